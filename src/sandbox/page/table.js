// Tables, and what stands where one is empty.

/** Keeps the focus on the same control when an element takes another's place. */
function replaceKeepingFocus(old, fresh) {
  const controls = 'a, button, input, select, summary, [tabindex]';
  const at = [old, ...old.querySelectorAll(controls)].indexOf(document.activeElement);
  old.replaceWith(fresh);
  if (at >= 0) ([fresh, ...fresh.querySelectorAll(controls)][at] ?? fresh.closest('[tabindex]') ?? document.getElementById('main')).focus();
}

/** Brings a list up to date. Rows whose item is the same object stay as they are. */
function keyed(list, items, id, render) {
  const before = list.byId ?? new Map();
  list.byId = new Map();
  let place = list.firstChild;
  for (const item of items) {
    let row = before.get(id(item));
    if (row && row.item !== item) {
      const node = render(item);
      if (place === row.node) place = node;
      replaceKeepingFocus(row.node, node);
      row = { item, node };
    }
    row ??= { item, node: render(item) };
    if (row.node === place) place = place.nextSibling;
    else list.insertBefore(row.node, place);
    list.byId.set(id(item), row);
  }
  for (const [key, row] of before) if (!list.byId.has(key)) row.node.remove();
}

/** The same of values that are worked out anew each time: a row stays as it is while its value is equal. */
const keyedValues = (list, items, id, render) => keyed(list, items.map((it) => JSON.stringify(it)), (it) => id(JSON.parse(it)), (it) => render(JSON.parse(it)));

/** What stands in an empty section: what would be here, and the buttons that bring it. */
const emptyState = (title, text, ...actions) => el('div', { class: 'empty' },
  svg('svg', { viewBox: '0 0 60 60', 'aria-hidden': 'true' }, svg('path', { d: 'M14 30h10c8 0 5-14 14-14h4M24 30c8 0 5 14 14 14h4', 'stroke-dasharray': '3 3' }),
    svg('circle', { cx: 11, cy: 30, r: 5 }), svg('circle', { cx: 47, cy: 16, r: 5 }), svg('circle', { cx: 47, cy: 44, r: 5 })),
  el('strong', {}, title), el('p', {}, text), el('div', { class: 'row' }, actions));

/**
 * A table of which only a part is in the document, however long it is. Columns: `[name, class, cell]`. The roles are
 * there because a narrow page shows rows as blocks, which would lose them.
 */
function table(label, columns, id, empty) {
  const body = el('tbody', { role: 'rowgroup' });
  const head = columns.map(([name, style]) => el('th', { role: 'columnheader', scope: 'col', class: style }, name));
  const whole = el('table', { role: 'table', 'aria-label': label }, el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head)), body);
  const total = el('span', {});
  let most = 50;
  const more = button('Show 100 more', () => { most += 100; changed(); }, { class: 'little' });
  const foot = el('div', { class: 'foot' }, total, more);
  const nothing = el('div', { class: 'empty' }, el('p', {}, 'Nothing matches.'), button('Show all', () => setFilter({ search: '', organization: '' })));
  const loading = el('div', { class: 'empty' }, 'Loading…');
  const node = el('div', { class: 'card table live' }, whole, foot, nothing, loading, empty);
  let isFirst = true;
  const render = (it) => el('tr', { role: 'row', class: !isFirst && 'fresh' },
    columns.map(([, style, cell]) => el('td', { role: 'cell', class: style }, cell(it))));
  // `all` is how many there are without a filter.
  const update = (items, all) => {
    // The row with the focus stays in the document, however many come before it.
    const [focused] = [...(body.byId ?? [])].find(([, row]) => row.node.contains(document.activeElement)) ?? [];
    if (focused) most = Math.max(most, items.findIndex((it) => id(it) === focused) + 1);
    keyed(body, items.slice(0, most), id, render);
    isFirst &&= items.length === 0;
    more.hidden = items.length <= most;
    whole.hidden = foot.hidden = items.length === 0;
    loading.hidden = state.isLoaded || items.length > 0;
    nothing.hidden = !state.isLoaded || items.length > 0 || all === 0;
    empty.hidden = !state.isLoaded || all > 0;
    total.textContent = `${Math.min(most, items.length).toLocaleString('en')} of ${items.length.toLocaleString('en')}`;
  };
  return { node, update };
}

const link = (section, id, text = id) => el('a', { href: `#${section}/${id}` }, text);
/** The link of a row, which opens it wherever it is clicked. */
const opener = (section, id, text) => el('a', { class: 'open', href: `#${section}/${id}`, dir: 'auto' }, text);
const organizationColumn = ['Organization', 'w-m line', (it) => el('span', { class: 'quiet', title: it.organization, dir: 'auto' }, nameOf(it.organization))];
const guestOf = (booking) => state.bookings.get(booking)?.customer?.name;
/** The title of a section, with what stands beside it. */
const heading = (title, text, ...beside) => el('div', { class: 'head' }, el('h2', {}, title),
  beside.length > 0 && el('div', { class: 'row' }, beside), text && el('p', {}, text));

const tones = {
  confirmed: 'good', delivered: 'good', failed: 'bad', abandoned: 'bad', expired: 'idle', requires_action: 'warn', processing: 'busy',
  pending: 'warn', cancelled: 'idle',
};
const stateWord = (name) => el('b', { class: `pill ${tones[name] ?? 'busy'}` }, spaced(name));
const statusWord = (status) => el('b', { class: `pill ${status >= 400 || status === 0 ? 'bad' : 'good'}` }, status === 0 ? 'no response' : String(status));

