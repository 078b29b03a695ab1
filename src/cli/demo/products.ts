import { ZodError } from 'zod'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { type Bought, buy, type Order, type Sale } from './buy.ts'
import { checkChat, checkCrypto, checkNews, checkStock, checkWeather } from './checkData.ts'
import { checkPdf, checkScreenshot, checkSvg, pdfHtml, qrSize, qrText, viewport } from './checkFiles.ts'
import { type DemoDeps, expectThat, type Spent } from './demoDeps.ts'

interface Product {
  readonly order: Order
  /** Returns what there is to tell; throws when the answer is not what was paid for. */
  readonly check: (data: unknown) => string | Promise<string>
  /** Made by a provider, for which local mode may have samples. */
  readonly isProvided: boolean
  /** Said before it is ordered, because it takes a while. */
  readonly notice?: string
}

const publicPage = 'https://example.com/'

function productsOf({ local }: DemoDeps): readonly Product[] {
  const pageUrl = local.sampleUpstreams?.pageUrl ?? publicPage
  return [
    { order: { path: '/api/data/crypto?symbol=SOL' }, check: checkCrypto, isProvided: true },
    { order: { path: '/api/data/weather?city=London' }, check: checkWeather, isProvided: true },
    { order: { path: '/api/data/stock?symbol=AAPL' }, check: checkStock, isProvided: true },
    { order: { path: '/api/data/news?category=tech&limit=3' }, check: checkNews, isProvided: true },
    {
      order: { path: '/api/tools/qrcode', body: { data: qrText, size: qrSize, format: 'svg' } },
      check: checkSvg,
      isProvided: false,
    },
    {
      order: { path: '/api/tools/screenshot', body: { url: pageUrl, ...viewport } },
      check: checkScreenshot,
      isProvided: false,
      notice: 'a browser is started for the next two, which takes some seconds the first time …',
    },
    { order: { path: '/api/tools/pdf', body: { html: pdfHtml } }, check: checkPdf, isProvided: false },
    {
      order: { path: '/api/ai/chat', body: { message: 'In one sentence: what is a ledger?' } },
      check: checkChat,
      isProvided: true,
    },
  ]
}

/** Buys what else is on sale. Where the providers are samples there is no excuse, and all of it has to be. */
export async function tellProducts(deps: DemoDeps): Promise<readonly Spent[]> {
  deps.say('6. The other products, each paid for and checked:')
  const spent: Spent[] = []
  let missing = 0
  for (const product of productsOf(deps)) {
    if (product.notice !== undefined) deps.say(`   (${product.notice})`)
    const bought = await buyPatiently(deps, product.order)
    if (bought.kind !== 'not on sale') spent.push(bought.spent)
    deps.say(`   ${nameOf(product.order)}`)
    if (bought.kind === 'bought') deps.say(`      ${await told(deps, product, bought.sale)}`)
    else {
      tellMissing(deps, product, bought)
      missing++
    }
  }
  if (missing > 0) deps.say('   Without internet, --sample-upstreams puts samples in the place of the providers.')
  return spent
}

// What is gathered in the background may need a moment after the start; a provider out of reach stays so for longer.
const patienceTries = 15
const patienceMs = 1_000

/** Only with samples is it known that there will be something to sell. */
async function buyPatiently(deps: DemoDeps, order: Order): Promise<Bought> {
  const triesMax = deps.local.sampleUpstreams ? patienceTries : 1
  for (let tried = 1; ; tried++) {
    const bought = await buy(deps, order)
    if (bought.kind !== 'not on sale' || tried >= triesMax) return bought
    await systemClock.sleep(patienceMs)
  }
}

function nameOf({ path, body }: Order): string {
  return `${body === undefined ? 'GET' : 'POST'} ${path}`
}

async function told({ local }: DemoDeps, { order, check, isProvided }: Product, sale: Sale): Promise<string> {
  const { source, asOf } = sale.meta
  const isSample = isProvided && Boolean(local.sampleUpstreams)
  expectThat(
    source.startsWith('sample:') === isSample && sale.isSample === isSample,
    `${order.path} says ${isSample ? '' : 'nothing '}of sample data in source and header, not "${source}"`,
  )
  try {
    const text = await check(sale.data)
    return isProvided ? `${text}\n      source ${source}, as of ${asOf}` : text
  } catch (error) {
    if (!(error instanceof ZodError)) throw error
    throw new Fault(`the demo expected another answer of ${order.path}: ${error.message}`, { retryable: false })
  }
}

function tellMissing(
  { local, say }: DemoDeps,
  { order }: Product,
  { kind, why }: { readonly kind: 'not on sale' | 'not delivered'; readonly why: string },
): void {
  if (local.sampleUpstreams)
    throw new Fault(`the demo expected that everything is sold with samples; ${order.path} is ${kind}: ${why}`, {
      retryable: false,
    })
  say(`      ${kind}: ${why}${kind === 'not delivered' ? '; the payment stays good' : ''}`)
}
