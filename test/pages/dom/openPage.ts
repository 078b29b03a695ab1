import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Window } from 'happy-dom'
import { rolldown } from 'rolldown'
import { reportOptions } from '../../../src/routes/reportOptions.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { afterFile } from '../../support/afterFile.ts'

/* Runs a page in a DOM: its markup, its bundled script, and a service that the test plays. */

/** A request of the page. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: unknown
  readonly cache: RequestCache | undefined
  /** Value of `localStorage` when the request left. */
  readonly stored: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json: unknown
}

export interface PageSetup {
  readonly page: 'finance' | 'burn' | 'home' | 'pay' | 'tab'
  readonly html: string
  /** Address with query and fragment. */
  readonly url: string
  /** Throws for a connection that breaks. */
  readonly answer: (asked: Asked) => Answered | Promise<Answered>
  readonly before?: (window: Window) => unknown
}

export interface OpenPage {
  readonly window: Window
  readonly asked: readonly Asked[]
  /** Text of the first element that matches. */
  textOf(selector: string): string
  textsOf(selector: string): readonly string[]
  /** True unless the element or one around it is hidden. */
  isShown(selector: string): boolean
  click(selector: string): void
  /** Sets a field, and tells its form. */
  fill(selector: string, value: string): void
  submit(selector: string): void
  /** Texts of the bars of the chart in this figure. */
  barsOf(selector: string): readonly string[]
  until(what: string, holds: () => boolean): Promise<unknown>
}

const bundles = new Map<string, Promise<string>>()

function bundleOf(page: string): Promise<string> {
  const bundle = bundles.get(page) ?? makeBundle(page)
  bundles.set(page, bundle)
  return bundle
}

async function makeBundle(page: string): Promise<string> {
  const input = fileURLToPath(new URL(`../../../src/pages/browser/${page}.ts`, import.meta.url))
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent' })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  await build.close()
  // A script of the window, where a module would have its own address and may wait at its top.
  return `(async () => {${output[0].code.replaceAll('import.meta.url', 'location.href')}\n})()`
}

/** Reads the markup of a page, with the list of reports as the service fills it. */
export async function readPage(name: string): Promise<string> {
  const html = await readFile(new URL(`../../../src/pages/files/${name}`, import.meta.url), 'utf8')
  return html.replace('<!-- reports -->', reportOptions)
}

export async function openPage({ page, html, url, answer, before }: PageSetup): Promise<OpenPage> {
  const script = await bundleOf(page)
  const window = new Window({
    url,
    settings: {
      enableJavaScriptEvaluation: true,
      suppressInsecureJavaScriptEnvironmentWarning: true,
      disableJavaScriptFileLoading: true,
      disableCSSFileLoading: true,
      handleDisabledFileLoadingAsSuccess: true,
    },
  })
  afterFile(() => window.happyDOM.close())
  const asked: Asked[] = []
  const { document } = window
  document.write(html.replaceAll(/<script[^>]*src=[^>]*><\/script>/g, ''))
  const serve = async (target: string, init: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(target, window.location.href)
    const request: Asked = {
      method: init.method ?? 'GET',
      path: pathname,
      query: searchParams,
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      cache: init.cache,
      stored: Object.fromEntries(Object.entries(window.localStorage)),
    }
    asked.push(request)
    const { status = 200, headers, json } = await answer(request)
    return Response.json(json, { status, headers: { 'content-type': 'application/json', ...headers } })
  }
  Object.assign(window, { fetch: serve, crypto })
  before?.(window)
  const failed: unknown = await window.eval(script)
  if (failed instanceof Error) throw failed

  const find = (selector: string) => {
    const found = document.querySelector(selector)
    if (found === null) throw new Error(`the page has no ${selector}`)
    return found
  }
  return {
    window,
    asked,
    textOf: (selector) => find(selector).textContent,
    textsOf: (selector) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent),
    isShown: (selector) => find(selector).closest('[hidden]') === null,
    click: (selector) =>
      void find(selector).dispatchEvent(new window.MouseEvent('click', { bubbles: true, cancelable: true })),
    fill(selector, value) {
      Object.assign(find(selector), { value })
      find(selector).dispatchEvent(new window.Event('change', { bubbles: true }))
    },
    submit: (selector) => void find(selector).dispatchEvent(new window.Event('submit', { cancelable: true })),
    barsOf: (selector) => [...document.querySelectorAll(`${selector} svg title`)].map(({ textContent }) => textContent),
    until: awaitThat,
  }
}
