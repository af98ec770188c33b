// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Pictures as the bytes that terminals take, by Chafa.

#ifndef CCHAFA_SHIM_H
#define CCHAFA_SHIM_H

#include <chafa.h>
#include <stdint.h>

// A canvas of one cell, which is as large as the picture is to be in pixels.
static inline ChafaCanvas *rlc_canvas(ChafaPixelMode mode, int width, int height) {
    ChafaCanvasConfig *config = chafa_canvas_config_new();
    chafa_canvas_config_set_geometry(config, 1, 1);
    chafa_canvas_config_set_cell_geometry(config, width, height);
    chafa_canvas_config_set_pixel_mode(config, mode);
    chafa_canvas_config_set_canvas_mode(config, CHAFA_CANVAS_MODE_TRUECOLOR);
    chafa_canvas_config_set_dither_mode(config, CHAFA_DITHER_MODE_DIFFUSION);
    chafa_canvas_config_set_dither_grain_size(config, 1, 1);
    ChafaCanvas *canvas = chafa_canvas_new(config);
    chafa_canvas_config_unref(config);
    return canvas;
}

// Scales a picture, whose pixels are of four bytes each, to a size in pixels; appends its bytes between those that begin
// and end it. The beginning has all of Chafa's numbers, %1 and so on. The caller frees the result.
static inline GString *rlc_print(
    ChafaPixelMode mode, const char *begin, const char *end, const uint8_t *pixels, int width, int height, int to_width,
    int to_height) {
    ChafaTermInfo *info = chafa_term_info_new();
    // No sequence is too long, and none has a percent sign that Chafa would not know.
    chafa_term_info_set_seq(info, CHAFA_TERM_SEQ_BEGIN_SIXELS, begin, NULL);
    chafa_term_info_set_seq(info, CHAFA_TERM_SEQ_END_SIXELS, end, NULL);
    chafa_term_info_set_seq(info, CHAFA_TERM_SEQ_BEGIN_KITTY_IMMEDIATE_IMAGE_V1, begin, NULL);
    chafa_term_info_set_seq(info, CHAFA_TERM_SEQ_END_KITTY_IMAGE, end, NULL);
    chafa_term_info_set_seq(info, CHAFA_TERM_SEQ_BEGIN_KITTY_IMAGE_CHUNK, "\033_Gm=1;", NULL);
    chafa_term_info_set_seq(info, CHAFA_TERM_SEQ_END_KITTY_IMAGE_CHUNK, "\033\\", NULL);
    ChafaCanvas *canvas = rlc_canvas(mode, to_width, to_height);
    chafa_canvas_draw_all_pixels(
        canvas, CHAFA_PIXEL_RGBA8_UNASSOCIATED, pixels, width, height, width * 4);
    GString *bytes = chafa_canvas_print(canvas, info);
    chafa_canvas_unref(canvas);
    chafa_term_info_unref(info);
    return bytes;
}

static inline void rlc_free(GString *bytes) { g_string_free(bytes, TRUE); }

#endif
