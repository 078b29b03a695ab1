import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { clusterOf, mainnet } from '@tollbook/core/networks'
import type { Endpoint } from '../product/endpoint.ts'
import { displayUsd } from '../pricing/priceList.ts'
import type { AcceptedDollar } from './acceptedDollars.ts'
import { html, type Markup } from './markup.ts'
import { pageFrame } from './pageFrame.ts'
import { type Field, fieldOf, formOf } from './parameterForm.ts'
import type { TokenNames } from '../pricing/tokenNames.ts'
import { someWallet } from './samples.ts'
import { tabSections } from './tabSections.ts'
import { tokenLine } from './tokenLine.ts'

/** Path prefix of the pages that sell products to people. */
export const payMount = '/pay'

/**
 * Returns the path of the page that sells a product. It has no variable segments, even if the product has some:
 * `/pay/items/~id`.
 */
export function payPathOf(path: string): string {
  return payMount + path.replaceAll(/\{(\w+)\}/g, '~$1')
}

export interface PaymentPageFacts {
  readonly endpoint: Endpoint
  /** Path of the page. The links in the page are relative to this path. */
  readonly at: string
  readonly token: TokenNames
  readonly sellerName: string
  readonly mint: string
  /** CAIP-2 name of the network. */
  readonly network: string
  /** True if the service can fund a wallet that the page creates. */
  readonly hasTestWallet: boolean
  readonly dollars: readonly AcceptedDollar[]
  /** Path of the page of the product that opens tabs. Undefined if tabs are not sold. */
  readonly tabPage?: string | undefined
}

export function paymentPage(facts: PaymentPageFacts): string {
  const { endpoint, at, network, token, mint, sellerName, dollars } = facts
  const { path, method, summary, rawBody, isDeposit } = endpoint
  const root = '../'.repeat(at.split('/').length - 2)
  const usd = String(displayUsd(endpoint))
  const script = isDeposit === true ? 'tab' : 'pay'
  return pageFrame({
    title: `${summary} · ${sellerName}`,
    sellerName,
    tagline: 'pay by the request',
    root,
    // The form of a page cannot send a file, so the page of such a product only refers to the API.
    script: rawBody === undefined ? script : undefined,
    body: html`<main
      id="main"
      data-path="${path}"
      data-method="${method}"
      data-page="${payPathOf(path)}"
      data-root="${root}"
      data-chain="${walletChain(network)}"
      data-symbol="${token.symbol}"
      data-some-wallet="${someWallet}"
    >
      <h1>${summary}</h1>
      <p>
        <strong>$${usd}</strong> <span id="tokens" class="muted"></span> <span class="mono">${method} ${path}</span>
      </p>
      ${tokenLine(token, mint, dollars)}
      <noscript
        ><p class="panel">
          Paying in the browser needs JavaScript. Programs pay as the <a href="${root}docs">API reference</a> says.
        </p></noscript
      >
      ${isDeposit === true ? tabSections(facts, root) : html`${saleSections(facts, root)} ${tabLine(facts, root)}`}
    </main>`,
  })
}

function saleSections({ endpoint, token, hasTestWallet }: PaymentPageFacts, root: string): Markup {
  if (endpoint.rawBody !== undefined)
    return html`<p class="panel">
      This product takes a file. Programs pay for it as the <a href="${root}docs">API reference</a> says.
    </p>`
  return html`<div class="columns">
      <form class="panel" id="order" aria-labelledby="order-title">
        <h2 id="order-title">1. Your request</h2>
        ${fieldsOf(endpoint)}
      </form>
      ${paySection(token.symbol, hasTestWallet)}
    </div>
    ${answerSection}`
}

function tabLine({ tabPage }: PaymentPageFacts, root: string): Markup {
  return tabPage === undefined
    ? html``
    : html`<p class="muted">
        One deposit pays for many requests: <a href="${root}${tabPage.slice(1)}">open a tab, or see one</a>.
      </p>`
}

function paySection(symbol: string, hasTestWallet: boolean): Markup {
  return html`<section class="panel" aria-labelledby="pay-title">
    <h2 id="pay-title">2. Pay</h2>
    <p class="muted" id="terms">
      Your wallet signs one transaction. It burns a part of the price and transfers the rest. The request and your
      balances of ${symbol} and SOL are checked before you sign.
    </p>
    <div id="wallets" class="wallets"></div>
    ${hasTestWallet ? testWallet : html``}
    <p id="no-wallet" class="muted">
      No Solana wallet was found in this browser. Install one that follows the Wallet Standard, such as Phantom or
      Solflare, or pay with a phone.
    </p>
    <details id="phone">
      <summary>Pay with a phone</summary>
      <p class="muted" id="phone-note">Scan the code with a wallet that supports Solana Pay.</p>
      <p id="qr"></p>
    </details>
    <p id="status" role="status"></p>
    <p id="stored" hidden>
      A payment of this page has no answer yet. <button type="button" id="resume">Ask again</button>
    </p>
  </section>`
}

const answerSection = html`<section class="panel" id="answer" aria-labelledby="answer-title" tabindex="-1" hidden>
  <h2 id="answer-title">3. Your answer</h2>
  <div id="data"></div>
  <h3>Receipt</h3>
  <ul id="checks" class="checks"></ul>
  <dl class="facts" id="receipt"></dl>
  <details>
    <summary>Receipt as JSON</summary>
    <pre id="receipt-json" tabindex="0"></pre>
  </details>
</section>`

const testWallet = html`<button type="button" class="main" id="test-wallet">Pay with a test wallet</button>
  <p class="muted">Local mode: the page makes a wallet and funds it. No real money is involved.</p>`

/** Returns the name of the chain in the Wallet Standard, which wallets in a browser use instead of the CAIP-2 name. */
function walletChain(network: string): string {
  return network === mainnet ? 'solana:mainnet' : `solana:${clusterOf(network) ?? 'localnet'}`
}

interface FormField {
  /** Name of the field as a path, such as `margin.top` for a member of an object. */
  readonly name: string
  readonly field: Field
  readonly isRequired: boolean
  readonly value: Json | undefined
}

function fieldsOf({ parameters, example, streamOnDemand }: Endpoint): Markup {
  const { properties, required, alternatives } = formOf(parameters)
  // Omit the parameter `stream`, because the page shows only complete answers.
  const asked = Object.entries(properties).filter(([name]) => streamOnDemand === undefined || name !== 'stream')
  const fields = asked.map(([name, field]) => {
    const value = example.order[name]
    const isRequired = required.includes(name)
    const isFirst = isRequired || value !== undefined || alternatives.includes(name)
    return { isFirst, markup: shown({ name: escapedName(name), field, isRequired, value }) }
  })
  const first = fields.filter(({ isFirst }) => isFirst).map(({ markup }) => markup)
  const rest = fields.filter(({ isFirst }) => !isFirst).map(({ markup }) => markup)
  const choice =
    alternatives.length === 0
      ? html``
      : html`<p class="muted">Fill in one of ${new Intl.ListFormat('en').format(alternatives)}.</p>`
  if (rest.length === 0) return html`${choice}${first}`
  return html`${choice}${first}
    <details>
      <summary>More options</summary>
      ${rest}
    </details>`
}

/** Escapes dots, because a dot separates the names of a path, and percent signs. The script decodes each name. */
function escapedName(name: string): string {
  return name.replaceAll(/[%.]/g, (character) => (character === '.' ? '%2E' : '%25'))
}

const members = z.record(z.string(), z.json())

function shown({ name, field, isRequired, value }: FormField): Markup {
  if (field.type === 'object' && field.properties !== undefined) {
    const values = members.safeParse(value).data ?? {}
    const inner = Object.entries(field.properties).map(([member, schema]) =>
      shown({
        name: `${name}.${escapedName(member)}`,
        field: fieldOf(schema),
        isRequired: false,
        value: values[member],
      }),
    )
    return html`<fieldset>
      <legend>${decodeURIComponent(name)}</legend>
      ${inner}
    </fieldset>`
  }
  const hint = hintOf(field)
  const hintId = `hint-${name}`
  const label = decodeURIComponent(name.slice(name.lastIndexOf('.') + 1))
  const input = inputOf({ name, field, isRequired, value }, hint === '' ? html`` : html` aria-describedby="${hintId}"`)
  const note = hint === '' ? html`` : html`<small id="${hintId}">${hint}</small>`
  return html`<div class="field">
    <label for="field-${name}">${label}${isRequired ? '' : ' (optional)'}</label>${input}${note}
  </div>`
}

function hintOf({ description, minimum, maximum }: Field): string {
  const range = minimum === undefined || maximum === undefined ? '' : `${String(minimum)} to ${String(maximum)}`
  return [range, description ?? ''].filter((part) => part !== '').join(' ')
}

const singleLineMax = 300

function inputOf({ name, field, isRequired, value = field.default }: FormField, describedBy: Markup): Markup {
  const required = isRequired ? html` required` : html``
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  const common = html` id="field-${name}" name="${name}"${required}${describedBy}`
  if (field.type === 'boolean') {
    // The script omits a checkbox that has its default, as it omits an empty field.
    const standard = field.default === true ? html` data-standard="true"` : html``
    const checked = value === true ? html` checked` : html``
    return html`<input type="checkbox" ${common}${standard}${checked} />`
  }
  if (field.enum !== undefined) {
    const options = [...(isRequired ? [] : ['']), ...field.enum].map(
      (option) => html`<option${option === text ? html` selected` : html``}>${option}</option>`,
    )
    return html`<select${common}>${options}</select>`
  }
  if (field.type === 'integer' || field.type === 'number') {
    const step = field.type === 'integer' ? '1' : 'any'
    const range = html` min="${field.minimum ?? ''}" max="${field.maximum ?? ''}"`
    return html`<input type="number" step="${step}" ${range} value="${text}" ${common} />`
  }
  // Objects, lists and values of several types are entered as JSON.
  if (field.type !== 'string') return html`<textarea rows="4" data-json${common}>${text}</textarea>`
  const length = field.maxLength === undefined ? html`` : html` maxlength="${field.maxLength}"`
  if (field.format === 'uri') return html`<input type="url" value="${text}" ${length}${common} />`
  const isLong = (field.maxLength ?? 0) > singleLineMax
  return isLong
    ? html`<textarea rows="4" ${length}${common}>${text}</textarea>`
    : html`<input type="text" value="${text}" ${length}${common} />`
}
