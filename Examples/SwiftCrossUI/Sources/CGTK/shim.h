// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// GTK for Swift: the casts, which are macros.

#ifndef CGTK_SHIM_H
#define CGTK_SHIM_H

#include <gtk/gtk.h>

static inline GApplication *ex_application(GtkApplication *application) { return G_APPLICATION(application); }

static inline void ex_window_show(GtkApplication *application) {
    GtkWidget *window = gtk_application_window_new(application);
    gtk_window_set_child(GTK_WINDOW(window), gtk_label_new("A window that idles"));
    gtk_window_present(GTK_WINDOW(window));
}

#endif
