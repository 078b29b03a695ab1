import { readFile } from 'node:fs/promises'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { publicAnswer, revalidated } from '../transport/publicAnswer.ts'
import { createStaticFile, serveStaticFile, type StaticFile } from '../transport/staticFile.ts'
import { pageHeaders } from './pageHeaders.ts'
import { type PageName, readPageScripts } from './pageScripts.ts'

/**
 * Creates the page of the finance reports. `sellerMarkup` is the seller's name as HTML, and `reports` the options of
 * the list of reports. The page contains no data: it fetches the reports with the reader's token.
 */
export async function createFinancePage(sellerMarkup: string, reports: string): Promise<readonly FreeRoute[]> {
  const files = { 'style.css': await storedFile(css, urlOf('style.css')), 'finance.js': pageScript('finance') }
  return [
    await createPage('finance', (page) =>
      page.replaceAll('Tollbook', () => sellerMarkup).replace('<!-- reports -->', reports),
    ),
    filesRoute('finance', files),
  ]
}

/**
 * Creates the page of burned tokens. `sellerMarkup` is the seller's name as HTML, and `dollarsMarkup` is a note on
 * dollars as HTML.
 */
export function createBurnPage(sellerMarkup: string, dollarsMarkup = ''): Promise<FreeRoute> {
  return createPage('burn', (page) =>
    page.replaceAll('Tollbook', () => sellerMarkup).replace('<!-- dollars -->', () => dollarsMarkup),
  )
}

async function createPage(name: 'finance' | 'burn', fill: (page: string) => string): Promise<FreeRoute> {
  const html = createStaticFile('text/html', fill(await readFile(urlOf(`${name}.html`), 'utf8')))
  return { path: `/${name}`, serve: async () => publicAnswer(await html.prepared(), pageHeaders) }
}

// The page loads the module only for a PDF, because it is large.
const pdfViewer = new URL(import.meta.resolve('unpdf/pdfjs'))

export async function createPageFiles(): Promise<FreeRoute> {
  return filesRoute('page', {
    'style.css': await storedFile(css, urlOf('style.css')),
    'icon.svg': await storedFile('image/svg+xml', urlOf('icon.svg')),
    'pdf.js': await storedFile(javaScript, pdfViewer),
    'home.js': pageScript('home'),
    'pay.js': pageScript('pay'),
    'tab.js': pageScript('tab'),
    'burn.js': pageScript('burn'),
  })
}

/** Creates the route of files. Their names have no version, so caches must revalidate them. */
function filesRoute(folder: string, files: Readonly<Record<string, StaticFile>>): FreeRoute {
  const byName = new Map(Object.entries(files))
  return { path: `/${folder}/:file`, serve: ({ segment }) => serveStaticFile(byName, segment, revalidated) }
}

const css = 'text/css; charset=utf-8'
const javaScript = 'text/javascript; charset=utf-8'

async function storedFile(contentType: string, url: URL): Promise<StaticFile> {
  return createStaticFile(contentType, await readFile(url))
}

function pageScript(page: PageName): StaticFile {
  return createStaticFile(javaScript, async () => (await readPageScripts())[page])
}

function urlOf(name: string): URL {
  return new URL(`files/${name}`, import.meta.url)
}
