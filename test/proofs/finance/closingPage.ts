import type { Page } from 'puppeteer'
import { z } from 'zod'
import { verifyClosing } from '@tollbook/client/verifyClosing'
import { signedClosing } from '@tollbook/core/closingStatement'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { sumsOfCsv } from './csvSums.ts'
import type { FinanceService } from './financeService.ts'
import type { Checks, PageLooks, Scheme, Size } from './pageLooks.ts'

interface ClosingLook {
  readonly service: FinanceService
  readonly looks: PageLooks & Pick<Checks, 'check'>
  readonly scheme: Scheme
  readonly size: Size
}

const waitMs = 15_000

/** The closing statement as a page: by its address, by its presets, and as files. */
export async function lookAtClosing({ service, looks, scheme, size }: ClosingLook): Promise<void> {
  const { check, judge, fits, openPage, firstPaintMs } = looks
  const { baseUrl, financeToken } = service
  const name = `closing-${scheme}-${size.width}`
  const { page, errors } = await openPage(scheme, size)
  const [thisMonth, lastMonth] = monthsNow()
  await page.goto(`${baseUrl}/finance?closing=${lastMonth}#token=${financeToken}`)
  await shown(page, lastMonth)
  const title = await textOf(page, '#statement-title')
  check(
    title.endsWith(': final') && !page.url().includes('token'),
    `${name}: "${title}" by its address (first paint after ${await firstPaintMs(page)} ms)`,
  )
  check(await fits(page), `${name}: the page is not wider than its window`)
  await judge(page, name)
  if (size.width > 1000) {
    const isWhole = await page.$$eval('#closing .scroll', (boxes) =>
      boxes.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth),
    )
    check(isWhole, `${name}: no column is cut off`)
    await page.focus('#closing [data-back="0"]')
    await page.keyboard.press('Enter')
    await shown(page, thisMonth)
    const preliminary = await textOf(page, '#statement-title')
    check(preliminary.endsWith(': preliminary'), `${name}: a key opens "${preliminary}"`)
    check(page.url().endsWith(`?closing=${thisMonth}`), `${name}: and its address names the month`)
    await page.goBack()
    await shown(page, lastMonth)
    await compareFiles(page, { service, looks, name, month: lastMonth })
  }
  await page.close()
  check(errors.length === 0, `${name}: no errors in the console ${errors.join('; ')}`)
}

// The browser runs as another user, which may not write files here: the page's own files are read as it hands them
// over.
const keepFiles = `
  var saved = new Map()
  const blobs = new Map()
  const createUrl = URL.createObjectURL
  URL.createObjectURL = (blob) => {
    const url = createUrl(blob)
    blobs.set(url, blob)
    return url
  }
  HTMLAnchorElement.prototype.click = function () {
    saved.set(this.download, blobs.get(this.href))
  }`

/** The files are what the page shows, and verify from files alone. */
async function compareFiles(
  page: Page,
  {
    service,
    looks: { check },
    name,
    month,
  }: Pick<ClosingLook, 'service' | 'looks'> & { readonly name: string; readonly month: string },
): Promise<void> {
  await page.evaluate(keepFiles)
  const download = async (what: string, file: string) => {
    await page.focus(`#closing [data-save=${what}]`)
    await page.keyboard.press('Enter')
    return z.string().parse(await page.evaluate(`saved.get(${JSON.stringify(file)}).text()`))
  }
  const closing: unknown = JSON.parse(await download('signed', `tollbook-closing-${month}.json`))
  const keys: unknown = await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()
  check((await verifyClosing({ closing, keys })).valid, `${name}: the signed file verifies with the published keys`)
  const { statement } = signedClosing.parse(closing)
  const { sums, rows } = await sumsOfCsv(
    new Response(await download('accounts', `tollbook-closing-${month}-accounts.csv`)),
  )
  const shownRows = await page.$$eval('[data-table=accounts] tbody tr', (lines) => lines.length)
  check(
    rows === shownRows && rows === statement.accounts.length && sums.get('closingBaseUnits') === 0n,
    `${name}: the CSV has the ${rows} accounts of the page, and its balances sum to zero`,
  )
}

function monthsNow(): readonly [string, string] {
  const thisMonth = isoTime(systemClock.nowMs()).slice(0, 7)
  const lastDayMs = Date.parse(`${thisMonth}-01T00:00:00.000Z`) - 86_400_000
  return [thisMonth, isoTime(lastDayMs).slice(0, 7)]
}

async function shown(page: Page, month: string): Promise<void> {
  await page.waitForFunction(
    `document.querySelector('#closing:not([aria-busy]) #statement-title')?.textContent.includes('${month}')`,
    { timeout: waitMs },
  )
}

function textOf(page: Page, selector: string): Promise<string> {
  return page.$eval(selector, (shownElement) => shownElement.textContent ?? '')
}
