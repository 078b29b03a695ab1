import type { Endpoint } from '../product/endpoint.ts'
import { contactUrl, type Seller } from '../product/seller.ts'
import type { TokenNames } from '../pricing/tokenNames.ts'
import { distributionOf, type SplitShare } from '../pricing/splitSetting.ts'
import { burnsAlways } from './acceptedDollars.ts'
import { type DescribedRail, descriptionsOf } from './discovery.ts'
import type { BaseUrls } from './openApi.ts'
import { html, jsonScript, type Markup } from './markup.ts'
import { pageFrame } from './pageFrame.ts'
import type { PriceCatalog, CatalogProduct } from './priceCatalog.ts'
import { payPathOf } from './paymentPage.ts'
import { samplesOf } from './samples.ts'
import { serviceDescription } from './serviceDescription.ts'
import { tabsIntro } from './tabsIntro.ts'
import { tokenLine } from './tokenLine.ts'

export interface LandingFacts extends BaseUrls {
  readonly endpoints: readonly Endpoint[]
  readonly catalog: PriceCatalog
  readonly split: readonly SplitShare[]
  readonly token: TokenNames
  readonly seller: Seller
  readonly rails: readonly DescribedRail[]
  /** True if the page describes local mode, in which no payment is in real money. */
  readonly isLocal: boolean
}

export function landingPage(facts: LandingFacts): string {
  const { seller, split, catalog, token } = facts
  const { burn = '0%' } = distributionOf(split)
  const share = burnsAlways(catalog.dollars ?? [])
    ? `${burn} of each price`
    : `${burn} of each price in ${token.symbol}`
  return pageFrame({
    title: `${seller.name} · ${seller.description}`,
    sellerName: seller.name,
    tagline: 'pay by the request',
    root: '',
    script: 'home',
    head: html`<meta name="description" content="${seller.description}. No account and no API key." />
      <script type="application/ld+json">
        ${jsonScript(serviceDescription(facts))}
      </script>`,
    body: html`<main id="main">
        <h1>${seller.description}</h1>
        <p>
          No account and no API key. Your Solana wallet pays for one answer with one transaction, and a signed receipt
          proves what you paid for.
        </p>
        <p>
          Burned so far: <strong id="burned">…</strong>
          <span id="burned-payments"
            ><noscript>as <a href="api/token/burn-stats">/api/token/burn-stats</a> says</noscript></span
          >. ${share} leaves the supply of the token. <a href="burn">Check it</a>
        </p>
        ${prices(facts)} ${steps(facts, burn)} ${commands(facts)}
      </main>
      ${footer(seller)}`,
  })
}

function prices({ token: names, catalog: { products, token, asOf, dollars = [] } }: LandingFacts): Markup {
  const tokenPrice =
    token.priceUSD === null
      ? `${token.symbol} has no price now.`
      : `1 ${token.symbol} is $${String(token.priceUSD)} now.`
  return html`<section aria-labelledby="products-title">
    <h2 id="products-title">Prices</h2>
    <p class="muted">${tokenPrice} As of <time datetime="${asOf}">${asOf.slice(0, 16).replace('T', ' ')} UTC</time>.</p>
    ${tokenLine(names, token.mint, dollars)}
    <div class="scroll" tabindex="0" role="region" aria-label="Prices">
      <table>
        <thead>
          <tr>
            <th scope="col">Buy in the browser</th>
            <th scope="col">Price</th>
            <th scope="col">Request</th>
          </tr>
        </thead>
        <tbody>
          ${products.map(product)}
        </tbody>
      </table>
    </div>
  </section>`
}

function product(sold: CatalogProduct): Markup {
  const { path, method, summary, priceUSD, models = [], requiredTokens, available, reason = '' } = sold
  const tokens = requiredTokens === null ? [] : [`${requiredTokens.toLocaleString('en-US')} tokens`]
  const ofModels = models.map(({ model, priceUSD: usd }) => `${model}: $${String(usd)}`)
  const state = available ? html`` : html` <span class="warning">Not for sale now: ${reason}.</span>`
  return html`<tr>
    <th scope="row"><a href="${payPathOf(path).slice(1)}">${summary}</a>${state}</th>
    <td><strong>$${String(priceUSD)}</strong> ${[...tokens, ...ofModels].join(', ')}</td>
    <td class="mono">${method} ${path}</td>
  </tr>`
}

function steps({ endpoints, rails, catalog, token }: LandingFacts, burn: string): Markup {
  const whose = burnsAlways(catalog.dollars ?? []) ? '' : ` for payments in ${token.symbol}`
  const stock = descriptionsOf(rails).map(({ protocol }) => protocol)
  const others =
    stock.length === 0
      ? ''
      : `Stock clients of ${stock.join(' and ')} pay with the wallet that they have, and we burn${whose}.`
  return html`<section aria-labelledby="how-title">
    <h2 id="how-title">Three steps, one answer</h2>
    <ol>
      <li>
        Send the request. The answer is <span class="mono">402 Payment Required</span> with a price that is held for
        you. A wrong parameter is refused here, before you pay.
      </li>
      <li>Sign one Solana transaction. It burns ${burn} of the price and transfers the rest. ${others}</li>
      <li>
        Repeat the request with the proof. You get the data and a signed receipt. If no answer can be delivered, your
        payment stays valid.
      </li>
    </ol>
    ${tabsIntro(endpoints).map((text) => html`<p>${text.replaceAll('`', '')}</p>`)}
  </section>`
}

function commands({ baseUrl, catalog, endpoints, isLocal }: LandingFacts): Markup {
  const [first, ...others] = endpoints
  if (first === undefined) return html``
  // Show the cheapest product, because the second command pays.
  const cheapest = others.reduce((least, each) => (each.priceMicroUsd < least.priceMicroUsd ? each : least), first)
  const { curl, pay = curl } = samplesOf(cheapest, { baseUrl, mint: catalog.token.mint })
  const explained = isLocal
    ? 'Pay on your own machine: local mode runs the service, a Solana chain and a funded wallet. No real money is involved.'
    : 'Pay from a shell: the command pays up to the price that you allow, and prints the answer and its receipt.'
  return html`<section aria-labelledby="try-title">
    <h2 id="try-title">Make a request</h2>
    <p>See a price, which costs nothing:</p>
    <pre tabindex="0"><code>${curl}</code></pre>
    <p>${explained}</p>
    <pre tabindex="0"><code>${isLocal ? 'npm ci\nnpm start\n' : ''}${pay}</code></pre>
  </section>`
}

function footer({ name, contact, termsUrl }: Seller): Markup {
  return html`<footer>
    <nav aria-label="More">
      <a href="openapi.json">openapi.json</a> <a href="llms.txt">llms.txt</a> <a href="api/catalog">price list</a>
      <a href="api/health">health</a> <a href=".well-known/jwks.json">receipt keys</a>
      <a href="api/ledger/checkpoint">signed head of the ledger</a>
      ${contact === undefined ? html`` : html`<a href="${contactUrl(contact)}">contact ${name}</a>`}
      ${termsUrl === undefined ? html`` : html`<a href="${termsUrl}">terms</a>`}
    </nav>
  </footer>`
}
