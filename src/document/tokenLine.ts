import type { TokenNames } from '../pricing/tokenNames.ts'
import { type AcceptedDollar, dollarsIntro } from './acceptedDollars.ts'
import { html, type Markup } from './markup.ts'

type DollarLine = Pick<AcceptedDollar, 'description' | 'mint'>

/**
 * Returns a line about the token for buyers who do not have it: its name, mint and source. The line also lists the
 * dollars that programs may pay.
 */
export function tokenLine({ symbol, sourceUrl }: TokenNames, mint: string, dollars: readonly DollarLine[]): Markup {
  const source = sourceUrl === undefined ? html`` : html` <a href="${sourceUrl}">Get ${symbol}</a>`
  const ofToken = html`<p class="muted">Paid in ${symbol}, mint <span class="mono">${mint}</span>.${source}</p>`
  if (dollars.length === 0) return ofToken
  return html`${ofToken}
    <p class="muted">${dollarsIntro}</p>
    <ul class="muted">
      ${dollars.map(dollarLine)}
    </ul>`
}

function dollarLine({ description, mint }: DollarLine): Markup {
  const [start = '', end = ''] = description.split(mint)
  return html`<li>${start}<span class="mono">${mint}</span>${end}</li>`
}
