// Sections and the address: `#bookings/bk_1` is one booking. The header: filters, and what is unusual.

const sections = {
  bookings: ['Bookings', bookingsView, bookingView, () => state.bookings], requests: ['Requests', requestsView, requestView, () => state.requests],
  messages: ['Messages', messagesView, null, () => state.messages], deliveries: ['Deliveries', deliveriesView, deliveryView, () => state.deliveries],
  report: ['Report', reportView], venues: ['Venues', venuesView], clock: ['Clock', clockView], faults: ['Faults', faultsView],
  webhook: ['Webhook', webhookView], keys: ['Keys', keysView],
};

let view = null;
function show() {
  const [name, id] = location.hash.slice(1).split('/').map(decodeURIComponent);
  const section = Object.hasOwn(sections, name) ? name : 'bookings';
  const [title, list, one] = sections[section];
  if (view) {
    listeners.delete(view.update);
    view.close?.();
  }
  view = id && one ? one(id) : list();
  const main = document.getElementById('main');
  main.replaceChildren(...view.node.flat());
  listeners.add(view.update);
  view.update();
  document.title = `${id ?? title} · bookctl sandbox`;
  for (const it of document.querySelectorAll('nav a')) {
    if (it.hash === `#${section}`) {
      it.setAttribute('aria-current', 'page');
      it.scrollIntoView({ block: 'nearest', inline: 'center' });
    } else it.removeAttribute('aria-current');
  }
}

/** What differs from a sandbox that was just started. */
function unusual() {
  const notes = [];
  const clock = (id) => {
    const { ahead, isFrozen } = clockOf(id);
    const far = Math.abs(ahead) < 60 ? Math.abs(ahead) : Math.round(Math.abs(ahead) / 60) * 60;
    return [far > 1 && `${ahead < 0 ? '−' : '+'}${duration(far)}`, isFrozen && 'frozen'].filter(Boolean).join(', ');
  };
  const ids = filter.organization ? [filter.organization] : (state.clock?.organizations ?? [{}]).map((it) => it.id);
  const clocks = [...new Set(ids.map(clock).filter(Boolean))];
  if (clocks.length > 0) notes.push({ href: '#clock', tone: 'warn', text: clocks.length === 1 ? `Clock ${clocks[0]}` : `${clocks.length} clocks moved` });
  const faults = state.faults.filter(isOwned);
  if (faults.length > 0) notes.push({ href: '#faults', tone: 'bad', text: count(faults.length, 'fault') });
  const urls = [...new Set([...state.organizations.values()].filter((it) => it.webhook_url && (!filter.organization || it.id === filter.organization)).map((it) => it.webhook_url))];
  if (urls.length > 0) notes.push({ href: '#webhook', tone: 'busy', text: urls.length === 1 ? `Events go to ${urls[0].replace(/^https?:\/\//, '').slice(0, 40)}` : `Events go to ${urls.length} URLs` });
  return notes;
}

const search = document.getElementById('search');
const organization = document.getElementById('organization');
function drawFrame() {
  keyedValues(document.getElementById('unusual'), unusual(), (it) => it.href, (it) => el('li', {}, el('a', { href: it.href, class: it.tone }, it.text)));
  if (document.activeElement !== search) search.value = filter.search;
  const ids = new Set([...state.organizations.keys(), filter.organization].filter(Boolean));
  const options = ['', ...[...ids].sort((a, b) => (b === 'org_sandbox') - (a === 'org_sandbox'))].map((id) => ({ id,
    name: id === '' ? 'All organizations' : nameOf(id) }));
  keyedValues(organization, options, (it) => it.id, (it) => el('option', { value: it.id }, it.name));
  organization.value = filter.organization;
  for (const [name, [, , , items]] of Object.entries(sections)) {
    if (!items) continue;
    const own = filter.organization ? [...items().values()].filter(isOwned).length : items().size;
    document.querySelector(`nav a[href='#${name}'] span`).textContent = own > 0 ? own.toLocaleString('en') : '';
  }
}

search.addEventListener('input', () => setFilter({ search: search.value.trim() }));
organization.addEventListener('change', () => setFilter({ organization: organization.value }));
document.getElementById('filter').addEventListener('submit', (event) => event.preventDefault());
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input, select, textarea')) return;
  event.preventDefault();
  search.focus();
});
document.getElementById('sections').append(...Object.entries(sections).map(([name, [title]]) => el('li', { id: name, class: name === 'report' && 'apart' },
  el('a', { href: `#${name}` }, title, ' ', el('span', {})))));
window.addEventListener('popstate', () => { readFilter(); changed(); });
window.addEventListener('hashchange', () => {
  if (location.hash === '#main') return;
  show();
  document.getElementById('main').focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('main').focus();
});
readFilter();
listeners.add(drawFrame);
drawFrame();
show();
follow();
call('GET', '/openapi.json').then(({ components }) => {
  const schema = components.schemas.BookingErrorCode;
  state.errorCodes = schema?.enum ?? schema?.examples ?? [];
}, () => {});
