/* The order of a form: names with a dot are members of an object, and empty fields are left out. */

export function readOrder(form) {
  const order = {}
  for (const field of form.elements) {
    const { name, type, value, checked } = field
    // A box that is as the service assumes it is left out, like an empty field.
    const isLeftOut = type === 'checkbox' ? checked === (field.dataset.standard === 'true') : value === ''
    if (name === '' || isLeftOut) continue
    const [last, ...outer] = name.split('.').reverse()
    const holder = outer.reverse().reduce((within, part) => (within[part] ??= {}), order)
    holder[last] = type === 'checkbox' ? checked : readValue(field)
  }
  return order
}

function readValue({ name, type, value, dataset }) {
  if (type === 'number') return Number(value)
  if (dataset.json === undefined) return value
  try {
    return JSON.parse(value)
  } catch {
    throw new Error(`${name} must be JSON`)
  }
}

/** Fills in the query of an address that a person has opened. */
export function fillFrom(form, query) {
  for (const [name, value] of new URLSearchParams(query)) {
    const field = form.elements[name]
    if (field instanceof HTMLElement && field.type !== 'checkbox') field.value = value
  }
}

/** The request for an order: its address and what fetch needs. */
export function requestOf(method, address, order) {
  if (method === 'GET') {
    const url = new URL(address)
    for (const [name, value] of Object.entries(order)) url.searchParams.set(name, String(value))
    return { url, method, headers: {} }
  }
  return { url: address, method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) }
}
