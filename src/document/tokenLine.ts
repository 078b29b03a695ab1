import type { TokenNames } from '../pricing/tokenNames.ts'
import { html, type Markup } from './markup.ts'

/** Returns name, mint and source of the token, for buyers who do not have it. */
export function tokenLine({ symbol, sourceUrl }: TokenNames, mint: string): Markup {
  const source = sourceUrl === undefined ? html`` : html` <a href="${sourceUrl}">Get ${symbol}</a>`
  return html`<p class="muted">Paid in ${symbol}, mint <span class="mono">${mint}</span>.${source}</p>`
}
