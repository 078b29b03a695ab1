import { ZodError } from 'zod'
import { type ProductFacts, requestOf } from '../../product/productFacts.ts'
import { systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { buy, type DemoOrder, type DemoSale, payOrderOf, type PurchaseOutcome } from './buy.ts'
import { demoCaller } from './demoCaller.ts'
import { type DemoDeps, expectThat, type DemoSpending } from './demoDeps.ts'

// Page for screenshots without samples: the renderer refuses pages of this machine.
const publicPage = 'https://example.com/'

/**
 * Buys each product. If all providers are samples, each purchase must succeed. With real providers, a purchase may
 * fail.
 */
export async function showProducts(deps: DemoDeps): Promise<readonly DemoSpending[]> {
  deps.say('6. The other products, each paid for and checked:')
  const spent: DemoSpending[] = []
  let missing = 0
  // Skip products whose answers have no envelope, because `buy` reads an envelope.
  for (const product of deps.products.filter(({ stream }) => stream === undefined)) {
    const { notice } = product.demo
    if (notice !== undefined) deps.say(`   (${notice})`)
    const pageUrl = deps.local.sampleUpstreams?.pageUrl ?? publicPage
    const order = requestOf(product, product.demo.order({ pageUrl }))
    const bought = await buyPatiently(deps, order)
    if (bought.kind !== 'not on sale') spent.push(bought.spent)
    deps.say(`   ${product.method} ${order.target}`)
    if (bought.kind === 'bought') deps.say(`      ${await describeSale(deps, product, bought.sale)}`)
    else {
      describeMissing(deps, product, bought)
      missing++
    }
  }
  if (missing > 0) deps.say('   --sample-upstreams=always replaces all providers with samples.')
  return spent
}

// Number of tries, one second apart. News is collected in the background and may not be available right after the
// start. A provider that cannot be reached is not worth waiting for.
const patienceTries = 15
const patienceMs = 1_000

/** Buys a product. Retries only if samples are used, because every product then becomes available. */
async function buyPatiently(deps: DemoDeps, order: DemoOrder): Promise<PurchaseOutcome> {
  const triesMax = deps.local.sampleUpstreams ? patienceTries : 1
  for (let tried = 1; ; tried++) {
    const bought = await buy({ order: await payOrderOf(deps, order) }, order.target)
    if (bought.kind !== 'not on sale' || tried >= triesMax) return bought
    await systemClock.sleep(patienceMs)
  }
}

async function describeSale({ local }: DemoDeps, product: ProductFacts, sale: DemoSale): Promise<string> {
  const { source, asOf } = sale.meta
  const isProvided = product.providers.length > 0
  const isSample = source.startsWith('sample:')
  expectThat(
    sale.isSample === isSample,
    `${product.path} says the same of sample data in header and source "${source}"`,
  )
  const mode = local.sampleUpstreams?.mode ?? 'never'
  const mayBeSample = isProvided && mode !== 'never'
  expectThat(isSample ? mayBeSample : !(isProvided && mode === 'always'), `${product.path} is not of "${source}"`)
  try {
    const text = await product.demo.check(sale.data, demoCaller)
    return isProvided ? `${text}\n      source ${source}, as of ${asOf}` : text
  } catch (error) {
    if (!(error instanceof ZodError)) throw error
    throw new Fault(`the demo expected another answer of ${product.path}: ${error.message}`, { retryable: false })
  }
}

function describeMissing(
  { local, say }: DemoDeps,
  { path }: ProductFacts,
  { kind, why }: { readonly kind: 'not on sale' | 'not delivered'; readonly why: string },
): void {
  if (local.sampleUpstreams?.mode === 'always')
    throw new Fault(`the demo expected that everything is sold with samples; ${path} is ${kind}: ${why}`, {
      retryable: false,
    })
  say(`      ${kind}: ${why}${kind === 'not delivered' ? '; the payment stays good' : ''}`)
}
