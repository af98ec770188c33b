// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// GTK for Swift: the casts, which are macros, and calls with a variable number of arguments.

#ifndef CGTK_SHIM_H
#define CGTK_SHIM_H

#include <gtk/gtk.h>

static inline GApplication *ex_application(GtkApplication *application) { return G_APPLICATION(application); }

static inline GtkWidget *ex_window(GtkApplication *application, const char *title, int width, int height) {
    GtkWidget *window = gtk_application_window_new(application);
    gtk_window_set_title(GTK_WINDOW(window), title);
    gtk_window_set_default_size(GTK_WINDOW(window), width, height);
    return window;
}

static inline void ex_window_show(GtkWidget *window, GtkWidget *child) {
    gtk_window_set_child(GTK_WINDOW(window), child);
    gtk_window_present(GTK_WINDOW(window));
}

static inline GtkWidget *ex_column(void) {
    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    gtk_widget_set_margin_top(column, 24);
    gtk_widget_set_margin_bottom(column, 24);
    gtk_widget_set_margin_start(column, 24);
    gtk_widget_set_margin_end(column, 24);
    return column;
}

static inline void ex_append(GtkWidget *column, GtkWidget *child) { gtk_box_append(GTK_BOX(column), child); }

static inline void ex_label_set(GtkWidget *label, const char *text) { gtk_label_set_text(GTK_LABEL(label), text); }

static inline const char *ex_label_text(GtkWidget *label) { return gtk_label_get_text(GTK_LABEL(label)); }

static inline void ex_click(GtkWidget *button) { g_signal_emit_by_name(button, "clicked"); }

// What the window looks like, as GTK itself draws it.
static inline gboolean ex_save_picture(GtkWidget *window, const char *path) {
    GdkPaintable *paintable = gtk_widget_paintable_new(window);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot, gtk_widget_get_width(window), gtk_widget_get_height(window));
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    g_object_unref(paintable);
    if (node == NULL) return FALSE;
    GdkTexture *texture = gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)), node, NULL);
    gboolean saved = gdk_texture_save_to_png(texture, path);
    g_object_unref(texture);
    gsk_render_node_unref(node);
    return saved;
}

#endif
