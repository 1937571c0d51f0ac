// Sections and the address: `#bookings/bk_1` is one booking.

const sections = {
  report: ['Report', reportView],
  bookings: ['Bookings', bookingsView, bookingView], requests: ['Requests', requestsView, requestView], messages: ['Messages', messagesView],
  deliveries: ['Deliveries', deliveriesView, deliveryView], webhook: ['Webhook', webhookView], clock: ['Clock', clockView], faults: ['Faults', faultsView],
  venues: ['Venues', venuesView], keys: ['Keys', keysView],
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
    if (it.hash === `#${section}`) it.setAttribute('aria-current', 'page');
    else it.removeAttribute('aria-current');
  }
}

document.getElementById('sections').append(...Object.entries(sections).map(([name, [title]]) => el('li', {}, el('a', { href: `#${name}` }, title))));
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
show();
follow();
readControls();
