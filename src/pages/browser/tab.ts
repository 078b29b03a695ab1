/* Shows a tab to everyone who has its id, and what the wallet of all tabs has to cover. */

import { timeText, tokensText } from './amounts.ts'
import { dataOf, send, wordsOf } from './api.ts'
import { factsOf, one, oneOf } from './element.ts'

interface Tab {
  readonly wallet: string
  readonly state: string
  readonly balanceBaseUnits: string
  readonly maxPerRequestBaseUnits: string
  readonly maxPerDayBaseUnits: string | null
  readonly endsAt: string
}

interface Custody {
  readonly wallet: string
  readonly heldBaseUnits: string
  readonly prepaidBaseUnits: string
  readonly refundsDueBaseUnits: string
  readonly isCovered: boolean
}

const { root = '', symbol = '' } = one('main').dataset
const at = (address: string) => new URL(`${root}${address}`, location.href).href
const read = async <Data>(address: string) => dataOf<Data>(await send(at(address)))
const input = oneOf(HTMLInputElement, '#tab')
const status = one('#status')

one('#service').textContent = at('').replace(/\/$/, '')
input.value = new URLSearchParams(location.search).get('tab') ?? ''
const { token } = await read<{ readonly token: { readonly decimals: number } }>('api/catalog')
const tokens = (baseUnits: string) => `${tokensText(baseUnits, token.decimals)} ${symbol}`
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
    const tab = await read<Tab>(`api/tabs/${encodeURIComponent(input.value.trim())}`)
    const perDay = tab.maxPerDayBaseUnits
    const facts = [
      ['state', tab.state],
      ['balance', tokens(tab.balanceBaseUnits)],
      ['at most per request', tokens(tab.maxPerRequestBaseUnits)],
      ['at most per UTC day', perDay === null ? 'no limit' : tokens(perDay)],
      ['ends', `${timeText(tab.endsAt)} UTC`],
      ['the rest goes to', tab.wallet],
    ] as const
    one('#state').replaceChildren(...factsOf(facts))
    status.textContent = ''
  } catch (error) {
    status.textContent = wordsOf(error)
  }
}

async function showCustody(): Promise<void> {
  const covered = one('#covered')
  try {
    const { wallet, heldBaseUnits, prepaidBaseUnits, refundsDueBaseUnits, isCovered } =
      await read<Custody>('api/tabs/custody')
    covered.textContent = isCovered ? 'It covers all tabs.' : 'It does not cover all tabs: no deposit is sold.'
    const facts = [
      ['wallet', wallet],
      ['it holds', tokens(heldBaseUnits)],
      ['on tabs', tokens(prepaidBaseUnits)],
      ['refunds due', tokens(refundsDueBaseUnits)],
    ] as const
    one('#custody').replaceChildren(...factsOf(facts))
  } catch (error) {
    covered.textContent = wordsOf(error)
  }
}
