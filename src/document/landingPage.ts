import type { Endpoint } from '../product/endpoint.ts'
import { contactUrl, defaultSeller, type Seller } from '../product/seller.ts'
import type { TokenNames } from '../pricing/tokenNames.ts'
import { distributionOf, type SplitShare } from '../pricing/splitSetting.ts'
import { burnsAlways } from './acceptedDollars.ts'
import { type DescribedRail, descriptionsOf } from './discovery.ts'
import type { BaseUrls } from './openApi.ts'
import { html, jsonScript, type Markup } from './markup.ts'
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
}

/**
 * Renders the page at `/`: the products, their prices and how to buy them. Links are relative, so that the page works
 * under a prefix.
 */
export function landingPage(facts: LandingFacts): string {
  const { split, seller } = facts
  const { burn = '0%' } = distributionOf(split)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${seller.name} · ${seller.description}</title>
        <meta name="description" content="${seller.description}. No account and no API key." />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="home/style.css" />
        <link rel="stylesheet" href="home/home.css" />
        <script src="home/home.js" type="module"></script>
        <script type="application/ld+json">
          ${jsonScript(serviceDescription(facts))}
        </script>
      </head>
      <body>
        <a class="skip" href="#products">Skip to the prices</a>
        <header>
          <strong>${seller.name}</strong> <span>pay by the request</span>
          <nav aria-label="Pages">
            <a href="#products">prices</a> <a href="docs">API</a> <a href="burn">burned</a>
            <a href="api/health">health</a>
          </nav>
        </header>
        <main>${hero(facts, burn)} ${prices(facts)} ${steps(facts, burn)} ${commands(facts)} ${proofs}</main>
        ${footer(seller)}
      </body>
    </html> `.markup
}

function hero({ endpoints, seller, catalog, token }: LandingFacts, burn: string): Markup {
  const share = burnsAlways(catalog.dollars ?? [])
    ? `${burn} of each price`
    : `${burn} of each price in ${token.symbol}`
  const first = cheapestOf(endpoints)
  const buy =
    first === undefined
      ? html``
      : html`<a class="button main" href="${payPathOf(first.path).slice(1)}">Buy an answer</a>`
  return html`<section class="hero">
    <div>
      <h1>${seller.description}</h1>
      <p class="lead">
        No account and no API key. Your Solana wallet pays for one answer with one transaction, and a signed receipt
        proves what you paid for.
      </p>
      <p class="actions">
        ${buy} <a class="button" href="#try">Use a program</a> <a class="button" href="docs">Read the API</a>
      </p>
    </div>
    <aside class="panel" aria-labelledby="burned-title">
      <h2 id="burned-title">Burned so far</h2>
      <p class="big" id="burned">…</p>
      <p class="muted" id="burned-payments">
        <noscript>The figures are at <a href="api/token/burn-stats">/api/token/burn-stats</a>.</noscript>
      </p>
      <dl class="spans">
        <div>
          <dt>24 hours</dt>
          <dd id="day"></dd>
        </div>
        <div>
          <dt>7 days</dt>
          <dd id="week"></dd>
        </div>
        <div>
          <dt>30 days</dt>
          <dd id="month"></dd>
        </div>
      </dl>
      <p class="muted">${share} leaves the supply of the token. <a href="burn">Check it</a></p>
    </aside>
  </section>`
}

function prices(facts: LandingFacts): Markup {
  const { token: names } = facts
  const { products, token, asOf, dollars = [] } = facts.catalog
  const tokenPrice =
    token.priceUSD === null
      ? `${token.symbol} has no price now.`
      : `1 ${token.symbol} is $${String(token.priceUSD)} now.`
  return html`<section id="products" aria-labelledby="products-title">
    <div class="title">
      <h2 id="products-title">Prices</h2>
      <p class="muted">
        ${tokenPrice} As of <time datetime="${asOf}">${asOf.slice(0, 16).replace('T', ' ')} UTC</time>.
      </p>
    </div>
    ${tokenLine(names, token.mint, dollars)}
    <ul class="products">
      ${products.map(product)}
    </ul>
  </section>`
}

function product(sold: CatalogProduct): Markup {
  const { path, method, summary: what, priceUSD, models = [], requiredTokens, available, reason = '' } = sold
  const state = available ? html`` : html`<p class="warning">Not for sale now: ${reason}.</p>`
  const tokens = requiredTokens === null ? '' : `${requiredTokens.toLocaleString('en-US')} tokens`
  const prices = models.map(({ model, priceUSD: usd }) => `${model}: $${String(usd)}`).join(', ')
  return html`<li class="panel">
    <h3><a href="${payPathOf(path).slice(1)}">${what}</a></h3>
    <p class="price"><span class="usd">$${String(priceUSD)}</span> <span class="muted">${tokens}</span></p>
    ${prices === '' ? html`` : html`<p class="muted">${prices}</p>`}
    <p class="mono path"><span class="method">${method}</span> ${path}</p>
    ${state}
  </li>`
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
    <ol class="steps">
      <li>
        <h3>Ask</h3>
        <p>
          Send the request. The answer is <span class="mono">402 Payment Required</span> with a price that is held for
          you. A wrong parameter is refused here, before you pay.
        </p>
      </li>
      <li>
        <h3>Pay</h3>
        <p>Sign one Solana transaction. It burns ${burn} of the price and transfers the rest. ${others}</p>
      </li>
      <li>
        <h3>Receive</h3>
        <p>
          Repeat the request with the proof. You get the data and a signed receipt. If no answer can be delivered, your
          payment stays valid.
        </p>
      </li>
    </ol>
    ${tabsIntro(endpoints).map((text) => html`<p>${text.replaceAll('`', '')}</p>`)}
  </section>`
}

function commands({ baseUrl, endpoints, seller }: LandingFacts): Markup {
  const cheapest = cheapestOf(endpoints)
  if (cheapest === undefined) return html``
  const { curl, pay } = samplesOf(cheapest, baseUrl)
  return html`<section id="try" aria-labelledby="try-title">
    <h2 id="try-title">Make a request</h2>
    <div class="commands">
      <div class="panel">
        <h3>See a price</h3>
        <p>This works from every shell and costs nothing.</p>
        <pre tabindex="0"><code>${curl}</code></pre>
      </div>
      <div class="panel">
        ${seller.name === defaultSeller.name ? inLocalMode : fromShell}
        <pre
          tabindex="0"
        ><code>${seller.name === defaultSeller.name ? 'npm ci\nnpm start\n' : ''}${pay ?? curl}</code></pre>
      </div>
    </div>
  </section>`
}

const inLocalMode = html`<h3>Pay on your own machine</h3>
  <p>Local mode runs the service, a Solana chain and a funded wallet. No real money is involved.</p>`
const fromShell = html`<h3>Pay from a shell</h3>
  <p>The command pays up to the price that you allow, and prints the answer and its receipt.</p>`

function cheapestOf(endpoints: readonly Endpoint[]): Endpoint | undefined {
  const [first, ...others] = endpoints
  return others.reduce(
    (least, each) => (least !== undefined && each.priceMicroUsd < least.priceMicroUsd ? each : least),
    first,
  )
}

const proofs = html`<section aria-labelledby="trust-title">
  <h2 id="trust-title">Trust the ledger, not us</h2>
  <ul class="proofs">
    <li>
      <h3>One payment, one answer</h3>
      <p>
        The ledger commits a claim before the work starts. Neither a race nor a crash sells a second answer for the same
        payment.
      </p>
    </li>
    <li>
      <h3>Receipts verify offline</h3>
      <p>Each answer has a receipt signed with a <a href=".well-known/jwks.json">published key</a>.</p>
    </li>
    <li>
      <h3>An append-only ledger</h3>
      <p>
        A Merkle tree seals every event, and its <a href="api/ledger/checkpoint">signed head</a> makes a change of
        history visible.
      </p>
    </li>
  </ul>
</section>`

function footer({ name, contact, termsUrl }: Seller): Markup {
  return html`<footer>
    <nav aria-label="More">
      <a href="docs">API reference</a> <a href="openapi.json">openapi.json</a> <a href="api/catalog">price list</a>
      <a href="burn">burned tokens</a> <a href=".well-known/jwks.json">receipt keys</a>
      ${contact === undefined ? html`` : html`<a href="${contactUrl(contact)}">contact ${name}</a>`}
      ${termsUrl === undefined ? html`` : html`<a href="${termsUrl}">terms</a>`}
    </nav>
  </footer>`
}
