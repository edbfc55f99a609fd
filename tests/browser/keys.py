"""The keys by their names, also where selenium, which has them too, is not installed and every test is skipped."""


class Keys:
    TAB, ENTER, ESCAPE = "\ue004", "\ue007", "\ue00c"
    PAGE_UP, PAGE_DOWN, END, HOME = "\ue00e", "\ue00f", "\ue010", "\ue011"
    ARROW_LEFT, ARROW_UP, ARROW_RIGHT, ARROW_DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
