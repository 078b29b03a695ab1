import type { Endpoint } from '../product/endpoint.ts'
import { displayUsd } from '../pricing/priceList.ts'
import { html, type Markup } from './markup.ts'
import { tabsIntro } from './tabsIntro.ts'

/** Returns the sections of the page about tabs. `root` is the path from the page to `/`. */
export function tabSections(
  { endpoint, mint }: { readonly endpoint: Endpoint; readonly mint: string },
  root: string,
): Markup {
  const deposits = (endpoint.variants ?? [endpoint]).map((each) => `$${String(displayUsd(each))}`)
  return html`<section class="panel" aria-labelledby="open-title">
      <h2 id="open-title">Open a tab</h2>
      ${tabsIntro([endpoint]).map((text) => html`<p>${text.replaceAll('`', '')}</p>`)}
      <p>Deposits: ${new Intl.ListFormat('en', { type: 'disjunction' }).format(deposits)}.</p>
      <pre
        tabindex="0"
      ><code>npx -p @tollbook/client tollbook-pay tab open --deposit-usd ${String(displayUsd(endpoint))}   --base-url <span id="service">…</span> --mint ${mint} --wallet payer.json --rpc-url https://api.mainnet-beta.solana.com</code></pre>
      <p class="muted">Programs spend the tab as the <a href="${root}docs">API reference</a> says.</p>
    </section>
    <form class="panel" id="ask" aria-labelledby="state-title">
      <h2 id="state-title">State of a tab</h2>
      <div class="field">
        <label for="tab">Its id</label><input type="text" id="tab" name="tab" maxlength="22" required />
      </div>
      <button class="main">Show</button>
      <p id="status" role="status"></p>
      <dl class="facts" id="state"></dl>
    </form>
    <section class="panel" aria-labelledby="custody-title">
      <h2 id="custody-title">Wallet of all tabs</h2>
      <p id="covered"></p>
      <dl class="facts" id="custody"></dl>
    </section>`
}
