/* Recursive descent, one function a level of binding: or, and, not, comparison, operand. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "console/condition_program.h"
#include "console/condition_token.h"
#include "console/figures.h"
#include "settings/settings.h"

#define NAME 64 /* bytes of the longest word worth looking up */

struct parser {
    struct ga_token token; /* the next one */
    const char *rest;      /* behind it */
    struct ga_condition_program *program;
    struct ga_condition_step nowhere; /* takes what is emitted after an error */
    int depth;                        /* of brackets and nots */
    int stack;                        /* values that the program holds at this point */
    int code;                         /* 0, or the first error */
};

static void parse_or(struct parser *parser);

static void fail(struct parser *parser, const char *expected)
{
    if (parser->code < 0)
        return;
    if (parser->token.kind == GA_TOKEN_END)
        parser->code = ga_fail(GA_EINPUT, "the condition ends early: expected %s", expected);
    else
        parser->code =
            ga_fail(GA_EINPUT, "'%.*s' in the condition: expected %s",
                    (int)(parser->token.length < NAME ? parser->token.length : (size_t)NAME),
                    parser->token.text, expected);
}

static void advance(struct parser *parser)
{
    if (parser->code == 0)
        parser->rest = ga_token_read(&parser->token, parser->rest);
}

static bool take(struct parser *parser, const char *text)
{
    const bool there = parser->code == 0 && ga_token_is(&parser->token, text);
    if (there)
        advance(parser);
    return there;
}

static struct ga_condition_step *emit(struct parser *parser, enum ga_condition_code code,
                                      int stack_change)
{
    parser->stack += stack_change;
    const bool full =
        parser->program->steps == GA_CONDITION_STEPS || parser->stack > GA_CONDITION_DEPTH;
    if (full && parser->code == 0)
        parser->code = ga_fail(GA_ERANGE, "the condition is too long: expected at most %d steps",
                               GA_CONDITION_STEPS);
    struct ga_condition_step *step = &parser->nowhere;
    if (parser->code == 0)
        step = &parser->program->step[parser->program->steps++];
    *step = (struct ga_condition_step){.code = code, .replica = -1};
    return step;
}

static bool read_number(struct parser *parser, double *out)
{
    char text[NAME];
    if (ga_token_is(&parser->token, "nan")) {
        *out = NAN;
    } else if (ga_token_is(&parser->token, "inf") || ga_token_is(&parser->token, "-inf")) {
        *out = parser->token.text[0] == '-' ? -INFINITY : INFINITY;
    } else if (!ga_token_copy(&parser->token, text, sizeof(text)) ||
               ga_read_double(text, -INFINITY, INFINITY, out) < 0) {
        fail(parser, "a number, such as 1e-3");
        return false;
    }
    advance(parser);
    return true;
}

static int find_metric(struct parser *parser, bool of_replica)
{
    char name[NAME];
    if (parser->code < 0)
        return -1;
    if (parser->token.kind != GA_TOKEN_WORD || !ga_token_copy(&parser->token, name, sizeof(name))) {
        fail(parser, "a number or a figure such as loss, update, replica 2 loss, hash");
        return -1;
    }
    const int metric = ga_figure_find(name, of_replica);
    if (metric < 0)
        parser->code = ga_error_code();
    return metric;
}

static int32_t take_replica(struct parser *parser)
{
    char text[NAME];
    int64_t number = 0;
    if (!take(parser, "replica"))
        return -1;
    if (!ga_token_copy(&parser->token, text, sizeof(text)) ||
        ga_read_int(text, 0, GA_MAX_REPLICAS - 1, &number) < 0)
        fail(parser, "the number of a replica, from 0");
    advance(parser);
    return (int32_t)number;
}

/* Emits a value; true when it was the word nan, for which nothing is emitted. */
static bool parse_operand(struct parser *parser)
{
    const enum ga_token_kind kind = parser->token.kind;
    if (kind == GA_TOKEN_NUMBER || ga_token_is(&parser->token, "nan") ||
        ga_token_is(&parser->token, "inf")) {
        double number = 0;
        if (read_number(parser, &number) && isnan(number))
            return true;
        emit(parser, GA_CODE_PUSH, 1)->number = number;
        return false;
    }
    const int32_t replica = take_replica(parser);
    const int metric = find_metric(parser, replica >= 0);
    struct ga_condition_step *step = emit(parser, GA_CODE_METRIC, 1);
    step->metric = metric < 0 ? GA_METRIC_LOSS : (enum ga_metric)metric;
    step->replica = replica;
    advance(parser);
    return false;
}

static const struct {
    const char *sign;
    enum ga_condition_code code;
} comparisons[] = {
    {"<", GA_CODE_LESS},           {"<=", GA_CODE_LESS_EQUAL}, {">", GA_CODE_GREATER},
    {">=", GA_CODE_GREATER_EQUAL}, {"==", GA_CODE_EQUAL},      {"!=", GA_CODE_DIFFERENT},
};

static enum ga_condition_code take_comparison(struct parser *parser)
{
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
        if (take(parser, comparisons[i].sign))
            return comparisons[i].code;
    fail(parser, "one of < <= > >= == !=");
    return GA_CODE_EQUAL;
}

static bool read_digits(const struct ga_token *token, struct ga_condition_step *step)
{
    if (token->length < 8 || token->length > 16)
        return false;
    for (size_t i = 0; i < token->length; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, token->text[i]);
        if (!digit || !*digit)
            return false;
        step->hash = step->hash << 4 | (uint64_t)(digit - digits);
    }
    step->digits = (int)token->length;
    return true;
}

static void parse_hash(struct parser *parser)
{
    const bool different = ga_token_is(&parser->token, "!=");
    if (!take(parser, "==") && !take(parser, "!="))
        fail(parser, "== or != behind hash");
    struct ga_condition_step *step = emit(parser, GA_CODE_HASH, 1);
    if (parser->code == 0 && !read_digits(&parser->token, step))
        fail(parser, "8 to 16 hexadecimal digits in lower case");
    advance(parser);
    if (different)
        emit(parser, GA_CODE_NOT, 0);
}

/* A side that is nan makes it a test of the other side. */
static void emit_comparison(struct parser *parser, enum ga_condition_code code, int nans)
{
    if (nans == 0) {
        emit(parser, code, -1);
        return;
    }
    if (code != GA_CODE_EQUAL && code != GA_CODE_DIFFERENT) {
        fail(parser, "== nan or != nan: nothing is below or above nan");
        return;
    }
    if (nans == 2)
        emit(parser, GA_CODE_PUSH, 1)->number = NAN;
    emit(parser, GA_CODE_IS_NAN, 0);
    if (code == GA_CODE_DIFFERENT)
        emit(parser, GA_CODE_NOT, 0);
}

static bool ends_comparison(const struct parser *parser)
{
    return parser->token.kind == GA_TOKEN_END || parser->token.kind == GA_TOKEN_WORD ||
           ga_token_is(&parser->token, ")");
}

static void parse_comparison(struct parser *parser)
{
    if (take(parser, "hash")) {
        parse_hash(parser);
        return;
    }
    const bool left_nan = parse_operand(parser);
    if (left_nan && ends_comparison(parser)) {
        emit(parser, GA_CODE_NONFINITE, 1);
        return;
    }
    const enum ga_condition_code code = take_comparison(parser);
    const bool right_nan = parse_operand(parser);
    emit_comparison(parser, code, left_nan + right_nan);
}

static void parse_not(struct parser *parser)
{
    if (parser->code < 0)
        return;
    if (++parser->depth > GA_CONDITION_DEPTH) {
        parser->code = ga_fail(GA_ERANGE, "the condition is nested too deeply: expected at most %d",
                               GA_CONDITION_DEPTH);
    } else if (take(parser, "not")) {
        parse_not(parser);
        emit(parser, GA_CODE_NOT, 0);
    } else if (take(parser, "(")) {
        parse_or(parser);
        if (!take(parser, ")"))
            fail(parser, "and, or, or a closing )");
    } else {
        parse_comparison(parser);
    }
    parser->depth--;
}

static void parse_and(struct parser *parser)
{
    parse_not(parser);
    while (take(parser, "and")) {
        parse_not(parser);
        emit(parser, GA_CODE_AND, -1);
    }
}

static void parse_or(struct parser *parser)
{
    parse_and(parser);
    while (take(parser, "or")) {
        parse_and(parser);
        emit(parser, GA_CODE_OR, -1);
    }
}

int ga_condition_compile(struct ga_condition_program *program, const char *text)
{
    struct parser parser = {.rest = text, .program = program};
    advance(&parser);
    parse_or(&parser);
    if (parser.code == 0 && parser.token.kind != GA_TOKEN_END)
        fail(&parser, "and, or, or the end");
    return parser.code;
}
