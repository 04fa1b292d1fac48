/* What a screen shows, and its picture: only a front end with a screen can do either. */
#include "base/error.h"
#include "console/command.h"
#include "console/session.h"
#include "settings/words.h"

/* Without a screen a script's `view` does nothing, so that a lesson runs everywhere. */
int ga_exec_view(struct ga_console *console, size_t count, const char *const *word)
{
    const struct ga_front *front = &console->options.front;
    const char *words = ga_command_named("view")->words;
    if (count > 0 && !ga_word_in_list(word[0], words))
        return ga_fail(GA_EINPUT, "view %s: expected one of %s", word[0], words);
    return front->view ? front->view(front->self, count, word) : 0;
}

int ga_exec_save_display(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    const struct ga_front *front = &console->options.front;
    if (!front->save_display)
        return ga_fail(GA_EUNSUPPORTED,
                       "save-display: there is no screen here: expected the full-screen console");
    return front->save_display(front->self, word[0]);
}
