// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Slots are lambdas: no class is declared to Qt's meta-object compiler, which Swift's package manager does not run.

#include "CQt.h"

#include <QAbstractEventDispatcher>
#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSocketNotifier>
#include <QTimer>
#include <QVBoxLayout>

// MARK: The host

void ex_watch(int descriptor, ex_callback is_readable, ex_callback is_about_to_wait) {
    // The application deletes the notifier, and the connections go with the notifier.
    auto *notifier = new QSocketNotifier(descriptor, QSocketNotifier::Read, qApp);
    QObject::connect(notifier, &QSocketNotifier::activated, notifier, [=] { is_readable(); });
    QObject::connect(
        QAbstractEventDispatcher::instance(), &QAbstractEventDispatcher::aboutToBlock, notifier,
        [=] { is_about_to_wait(); });
}

// MARK: The application

void ex_application_make(void) {
    // Qt keeps both for the application's life.
    static int count = 1;
    static char name[] = "qt-example";
    static char *arguments[] = {name, nullptr};
    new QApplication(count, arguments);
}

int ex_application_run(void) { return QApplication::exec(); }

void ex_application_quit(void) { QApplication::quit(); }

// MARK: The window

namespace {
class Window : public QWidget {
public:
    QLabel *time = new QLabel;
    QLabel *news = new QLabel("Nothing has happened yet.");
    QMessageBox *dialog = nullptr;
    QPushButton *button = new QPushButton("Start a task on the main actor");
    void (*typed)(char key);

    explicit Window(ex_callback clicked, void (*typed)(char key)) : typed(typed) {
        button->setFocusPolicy(Qt::NoFocus);
        connect(button, &QPushButton::clicked, this, [=] { clicked(); });
        auto *column = new QVBoxLayout(this);
        for (QWidget *widget : {static_cast<QWidget *>(time), static_cast<QWidget *>(button), static_cast<QWidget *>(news)}) {
            column->addWidget(widget);
        }
    }

protected:
    void keyPressEvent(QKeyEvent *event) override {
        const QByteArray text = event->text().toLatin1();
        if (!text.isEmpty()) typed(text[0]);
    }
};

Window *window = nullptr;
} // namespace

void ex_application_delete(void) {
    delete window;
    window = nullptr;
    delete qApp;
}

void ex_window_show(const char *title, ex_callback clicked, void (*typed)(char key)) {
    window = new Window(clicked, typed);
    window->setWindowTitle(title);
    window->resize(360, 180);
    window->show();
}

void ex_window_set_time(const char *text) { window->time->setText(QString::fromUtf8(text)); }

void ex_window_set_news(const char *text) { window->news->setText(QString::fromUtf8(text)); }

void ex_window_click(void) { window->button->click(); }

void ex_dialog_run(const char *text) {
    QMessageBox dialog(QMessageBox::Information, "A dialog", QString::fromUtf8(text), QMessageBox::Ok, window);
    window->dialog = &dialog;
    dialog.exec();
    window->dialog = nullptr;
}

void ex_dialog_close(void) {
    if (window->dialog != nullptr) window->dialog->close();
}

void ex_after(int milliseconds, ex_callback body) { QTimer::singleShot(milliseconds, qApp, [=] { body(); }); }
