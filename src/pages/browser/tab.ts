/* Shows a tab to everyone who has its id. Also shows the debts that the wallet of all tabs must cover. */

import { tokensText } from './amounts.ts'
import { dataOf, send, wordsOf } from './api.ts'
import { factsOf, one, oneOf } from './element.ts'
import { columnName } from './tables.ts'

interface Currency {
  readonly mint: string
  readonly symbol: string
  readonly decimals: number
}

interface Catalog {
  readonly token: Currency
  readonly dollars?: readonly Currency[]
}

interface Custody {
  readonly isCovered: boolean
  readonly mint: string
  readonly wallet: string
  readonly heldBaseUnits: string
  readonly dollars?: readonly Facts[]
}

type Fact = string | number | boolean | null
type Facts = Readonly<Record<string, Fact>>

const { root = '' } = one('main').dataset
const at = (address: string) => new URL(`${root}${address}`, location.href).href
const read = async <Data>(address: string) => dataOf<Data>(await send(at(address)))
const input = oneOf(HTMLInputElement, '#tab')
const status = one('#status')

one('#service').textContent = at('').replace(/\/$/, '')
input.value = new URLSearchParams(location.search).get('tab') ?? ''
/** Awaited where amounts are shown, so that a failure is shown there too. */
const catalog = read<Catalog>('api/catalog')
one('#ask').addEventListener('submit', (event) => {
  event.preventDefault()
  void showTab()
})
if (input.value !== '') await showTab()
await showCustody()

async function showTab(): Promise<void> {
  status.textContent = 'Asking …'
  one('#state').replaceChildren()
  try {
    const tab = await read<Facts>(`api/tabs/${encodeURIComponent(input.value.trim())}`)
    one('#state').replaceChildren(...(await shown(tab)))
    status.textContent = ''
  } catch (error) {
    status.textContent = wordsOf(error)
  }
}

async function showCustody(): Promise<void> {
  const covered = one('#covered')
  try {
    const { isCovered, dollars: others = [], ...held } = await read<Custody>('api/tabs/custody')
    covered.textContent = isCovered ? 'It covers all tabs.' : 'It does not cover all tabs: no deposit is sold.'
    one('#custody').replaceChildren(...(await Promise.all([held, ...others].map(shown))).flat())
  } catch (error) {
    covered.textContent = wordsOf(error)
  }
}

async function shown(facts: Facts): Promise<readonly HTMLElement[]> {
  const { token, dollars = [] } = await catalog
  // A tab in a dollar has the symbol and the decimals of its mint.
  const { symbol, decimals } = [token, ...dollars].find(({ mint }) => mint === facts['mint']) ?? token
  const textOf = (name: string, value: Fact) => {
    if (value === null) return 'none'
    return name.endsWith('BaseUnits') ? `${tokensText(String(value), decimals)} ${symbol}` : String(value)
  }
  return factsOf(Object.entries(facts).map(([name, value]) => [columnName(name), textOf(name, value)] as const))
}
