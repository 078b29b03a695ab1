import '@tollbook/core/quietBindings'
import { readFile, writeFile } from 'node:fs/promises'
import type { Page } from 'puppeteer'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { openLocalService } from '../../src/cli/openLocalService.ts'
import { readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { openForeignSite } from './browser/foreignSite.ts'
import { registerTestWallet } from './browser/testWallet.ts'
import { openBrowser } from './finance/openBrowser.ts'
import { proofCommand } from './proofCommand.ts'
import { noLimits } from './proofEnvironment.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * A page of another origin buys a PDF with @tollbook/client and a wallet of the browser: price, payment, receipt and
 * inclusion verified in the page, document shown. Then a person buys the same on our payment page. Both light and dark,
 * wide and 390 px.
 */

const { pictures } = proofCommand(
  'browser',
  'Purchases in Chromium: from a page of another origin, and on our own page.',
)
  .option('--pictures <prefix>', 'write a picture of each page to PREFIX-<name>.png')
  .parse()
  .opts<{ pictures?: string }>()
const problems: string[] = []
function check(holds: boolean, what: string): void {
  say(`${holds ? 'ok    ' : 'BROKEN'} ${what}`)
  if (!holds) problems.push(what)
}

const path = '/api/tools/pdf'
const patienceMs = 90_000
const narrow = { width: 390, height: 844 }
const wide = { width: 1280, height: 900 }
const looks = [
  { scheme: 'light', size: wide },
  { scheme: 'dark', size: wide },
  { scheme: 'light', size: narrow },
  { scheme: 'dark', size: narrow },
] as const
type Look = (typeof looks)[number]

const axeResults = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullish(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
})

await using opened = new AsyncDisposableStack()
const home = await makeTemporaryDirectory()
opened.defer(home.remove)
const env = { TOLLBOOK_HOME: home.path, PORT: '0', LOG_LEVEL: 'fatal', ...noLimits }
const service = await openLocalService(readConfig(env, { sampleUpstreams: 'always' }), {
  log: silentLog,
  onProgress: (step) => say(`starting ${step}`),
})
opened.defer(() => service.close())
const { baseUrl, rpcUrl, tokenMint, paymentWallet, demoWallet, sampleUpstreams } = service.local
const wallet = assertPresent(demoWallet, 'local mode has a wallet')
const secretKey = Uint8Array.from(z.array(z.int()).parse(JSON.parse(await readFile(wallet.keypairPath, 'utf8'))))
const order = { url: assertPresent(sampleUpstreams, 'local mode has samples').pageUrl }
const site = opened.use(await openForeignSite({ baseUrl, rpcUrl, mint: tokenMint, paymentWallet, path, order }))
const { browser, end } = await openBrowser()
opened.defer(end)
const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

for (const look of looks) await buyFromForeignPage(look)
for (const look of looks) await buyOnPaymentPage(look)
for (const look of looks) await openReference(look)
concludeProof({ holds: problems.length === 0, lines: [`${2 * looks.length} purchases, ${problems.length} problems`] })

interface Visit {
  readonly page: Page
  readonly name: string
  readonly errors: readonly string[]
  readonly hosts: ReadonlySet<string>
}

async function visit(place: string, url: string, { scheme, size }: Look): Promise<Visit> {
  const page = await browser.newPage()
  await page.setViewport(size)
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await registerTestWallet(page, { address: wallet.address, secretKey })
  const errors: string[] = []
  const hosts = new Set<string>()
  page.on('pageerror', (error) => void errors.push(String(error)))
  page.on('console', (message) => {
    // A browser reports the 402 with the price, and a proof that is not sealed yet, as failed requests.
    const isExpected = message.text().includes('402') || message.location().url?.includes('/inclusion/') === true
    if (message.type() === 'error' && !isExpected) errors.push(message.text())
  })
  page.on('request', (request) => void (request.url().startsWith('data:') || hosts.add(new URL(request.url()).host)))
  await page.goto(url)
  return { page, name: `${place}-${scheme}-${size.width}`, errors, hosts }
}

/** The text must begin in the first view, also on a narrow screen. */
async function openReference(look: Look): Promise<void> {
  const { page, name, errors } = await visit('reference', `${baseUrl}/docs`, look)
  const top = await page.$eval('h1', (heading) => heading.getBoundingClientRect().top)
  check(top < look.size.height / 3, `${name}: the text begins at ${Math.round(top)} px`)
  await judge(page, name)
  check(errors.length === 0, `${name}: no errors in the console ${errors.join('; ')}`)
  await page.close()
}

async function buyFromForeignPage(look: Look): Promise<void> {
  const { page, name, errors, hosts } = await visit('foreign', site.url, look)
  const shown = (selector: string) => page.$eval(selector, (element) => element.textContent ?? '')
  await page.click('#ask')
  await page.waitForSelector('#buy:not([disabled])')
  check(/^402: \d/.test(await shown('#price')), `${name}: the price is shown: ${await shown('#price')}`)
  await page.click('#buy')
  await page.waitForFunction(`document.querySelector('#status').textContent !== ''`, { timeout: patienceMs })
  check((await shown('#status')).startsWith('bought with request'), `${name}: ${await shown('#status')}`)
  check((await shown('#steps')).trim() === 'quoted signed delivered', `${name}: steps: ${await shown('#steps')}`)
  check((await shown('#receipt')).startsWith('verified'), `${name}: the receipt is ${await shown('#receipt')}`)
  check(/^event \d+ of/.test(await shown('#ledger')), `${name}: the receipt is ${await shown('#ledger')}`)
  check(await isDrawn(page, '#document'), `${name}: the document is shown: ${await shown('#pages')}`)
  const known = new Set([site.url, baseUrl, rpcUrl ?? ''].map((url) => new URL(url).host))
  check(
    [...hosts].every((host) => known.has(host)),
    `${name}: service, node and site alone were contacted`,
  )
  await judge(page, name)
  check(errors.length === 0, `${name}: no errors in the console ${errors.join('; ')}`)
  await page.close()
}

async function buyOnPaymentPage(look: Look): Promise<void> {
  const { page, name, errors, hosts } = await visit('pay', `${baseUrl}/pay${path}`, look)
  const button = await page.waitForSelector('#wallets button')
  await judge(page, `${name}-before`)
  await button?.click()
  await page.waitForSelector('#answer:not([hidden])', { timeout: patienceMs })
  const marks = await page.$$eval('#checks li', (items) => items.map(({ className }) => className))
  check(
    marks.length > 0 && marks.every((mark) => mark === 'holds'),
    `${name}: ${marks.length} checks of the receipt hold`,
  )
  await page.waitForSelector('.pages[aria-busy=false]', { timeout: patienceMs })
  check(await isDrawn(page, '.pages canvas'), `${name}: the document is shown`)
  check(
    [...hosts].every((host) => baseUrl.includes(host)),
    `${name}: no other host was contacted`,
  )
  await judge(page, name)
  check(errors.length === 0, `${name}: no errors in the console ${errors.join('; ')}`)
  await page.close()
}

/** Whether a canvas has more than one colour. */
async function isDrawn(page: Page, selector: string): Promise<boolean> {
  return Boolean(
    await page.evaluate(`(() => {
      const canvas = document.querySelector(${JSON.stringify(selector)})
      if (canvas === null || canvas.width === 0) return false
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      return new Set(new Uint32Array(data.buffer)).size > 1
    })()`),
  )
}

async function judge(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) await writeFile(`${pictures}-${name}.png`, await page.screenshot({ fullPage: true }))
  check(Boolean(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')), `${name}: fits its window`)
  await page.evaluate(axe)
  const { violations } = axeResults.parse(await page.evaluate('axe.run()'))
  for (const { id, impact, nodes } of violations)
    say(`       ${name}: axe ${impact ?? ''} ${id}: ${nodes[0]?.html.slice(0, 160) ?? ''}`)
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  check(serious.length === 0, `${name}: axe finds nothing serious (${violations.length} findings in all)`)
}
