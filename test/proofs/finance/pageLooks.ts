import { readFile, writeFile } from 'node:fs/promises'
import type { Browser, Page } from 'puppeteer'
import { z } from 'zod'
import { say } from '../verdict.ts'
import { paintMsOn } from './paint.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

export type Scheme = 'light' | 'dark'

/** Prints each claim of a proof, and keeps those that do not hold. */
export interface Checks {
  readonly problems: readonly string[]
  check(holds: boolean, what: string): void
}

export function createChecks(): Checks {
  const problems: string[] = []
  return {
    problems,
    check(holds, what) {
      say(`${holds ? 'ok    ' : 'BROKEN'} ${what}`)
      if (!holds) problems.push(what)
    },
  }
}

export interface OpenedPage {
  readonly page: Page
  /** Addresses that it has asked for. */
  readonly asked: readonly string[]
  /** Errors of its console. */
  readonly errors: readonly string[]
}

export interface PageLooks {
  openPage(scheme: Scheme, size: Size): Promise<OpenedPage>
  /** Takes a picture, and asks axe. */
  judge(page: Page, name: string): Promise<void>
  /** Whether the page is not wider than its window. */
  fits(page: Page): Promise<boolean>
  /** Milliseconds from the navigation to the first text or picture. */
  firstPaintMs(page: Page): Promise<number>
}

const axeResults = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullish(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
})

interface PageLookDeps {
  readonly browser: Browser
  readonly checks: Checks
  /** Prefix of the files. */
  readonly pictures: string | undefined
}

export async function createPageLooks({ browser, checks, pictures }: PageLookDeps): Promise<PageLooks> {
  const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  return {
    openPage: (scheme, size) => openPage(browser, scheme, size),
    async judge(page, name) {
      if (pictures !== undefined)
        await writeFile(`${pictures}-${name}.png`, await page.screenshot({ fullPage: !name.includes('payment') }))
      await page.evaluate(axe)
      const { violations } = axeResults.parse(await page.evaluate('axe.run()'))
      for (const { id, impact, nodes } of violations)
        say(`       ${name}: axe ${impact ?? ''} ${id}: ${nodes[0]?.html.slice(0, 160) ?? ''}`)
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      checks.check(serious.length === 0, `${name}: axe finds nothing serious (${violations.length} findings in all)`)
    },
    fits: (page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth').then(Boolean),
    firstPaintMs: paintMsOn,
  }
}

async function openPage(browser: Browser, scheme: Scheme, size: Size): Promise<OpenedPage> {
  const page = await browser.newPage()
  await page.setViewport(size)
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  const asked: string[] = []
  const errors: string[] = []
  // The fragment stays in the browser.
  page.on('request', (request) => asked.push(request.url().replace(/#.*/, '')))
  page.on('pageerror', (error) => {
    say(`       ${String(error)}`)
    errors.push(String(error))
  })
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  return { page, asked, errors }
}
