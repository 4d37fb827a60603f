/* Reads VTIMEZONEs with libical. Input and answer are those of zones.cjs. */
#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what)
{
    fprintf(stderr, "zones: %s\n", what);
    exit(1);
}

static void answer(icaltimezone *zone, long long seconds)
{
    time_t at = (time_t)seconds;
    struct tm day;
    icaltimetype reading = icaltime_null_time();

    gmtime_r(&at, &day);
    reading.year = day.tm_year + 1900;
    reading.month = day.tm_mon + 1;
    reading.day = day.tm_mday;
    reading.hour = day.tm_hour;
    reading.minute = day.tm_min;
    reading.second = day.tm_sec;
    printf("%lld\n", seconds - icaltimezone_get_utc_offset(zone, &reading, NULL));
}

int main(void)
{
    size_t bytes;
    int readings;

    while (scanf("%zu %d", &bytes, &readings) == 2) {
        char *text = malloc(bytes + 1);
        icalcomponent *calendar, *description;
        icaltimezone *zone;

        if (getchar() != '\n' || text == NULL || fread(text, 1, bytes, stdin) != bytes) {
            fail("the input ends early");
        }
        text[bytes] = '\0';
        calendar = icalparser_parse_string(text);
        if (calendar == NULL || icalcomponent_count_errors(calendar) > 0) {
            fail("not a calendar");
        }
        description = icalcomponent_get_first_component(calendar, ICAL_VTIMEZONE_COMPONENT);
        zone = icaltimezone_new();
        if (description == NULL || !icaltimezone_set_component(zone, icalcomponent_new_clone(description))) {
            fail("no VTIMEZONE");
        }
        while (readings-- > 0) {
            long long seconds;
            if (scanf("%lld", &seconds) != 1) {
                fail("the input ends early");
            }
            answer(zone, seconds);
        }
        icaltimezone_free(zone, 1);
        icalcomponent_free(calendar);
        free(text);
    }
    return 0;
}
