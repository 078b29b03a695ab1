import { readFile } from 'node:fs/promises'
import { sha256Hex } from '@tollbook/core/digest'
import type { PublicBody } from './publicBody.ts'
import { createStaticFile, type StaticFile } from './staticFile.ts'

export interface DocsPage {
  readonly html: () => Promise<PublicBody>
  /** By name, below `/docs/`. */
  readonly files: ReadonlyMap<string, StaticFile>
}

const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

const packaged: readonly (readonly [name: string, contentType: string, url: string])[] = [
  ['swagger-ui.css', style, import.meta.resolve('swagger-ui-dist/swagger-ui.css')],
  ['swagger-ui-bundle.js', script, import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')],
  ['favicon-32x32.png', 'image/png', import.meta.resolve('swagger-ui-dist/favicon-32x32.png')],
]

/** All files are served from here, so the page works without the internet and sends no request to another site. */
export async function readDocsPage(): Promise<DocsPage> {
  const files = new Map<string, StaticFile>([
    ['page.css', createStaticFile(style, pageCss)],
    ['page.js', createStaticFile(script, pageJs)],
  ])
  for (const [name, contentType, url] of packaged)
    files.set(name, createStaticFile(contentType, await readFile(new URL(url))))
  // The digest in the address lets browsers cache a file without limit and fetch a new one at once.
  const addressOf = (name: string) => `docs/${name}?v=${sha256Hex(files.get(name)?.bytes ?? '').slice(0, 16)}`
  return { html: createStaticFile('text/html', htmlOf(addressOf)).prepared, files }
}

/** Strict: all files are served from here and nothing is inline. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The arrows of Swagger UI are data URIs in its style sheet.
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
}

/** Addresses are relative, so that the page works below a prefix too. */
function htmlOf(addressOf: (name: string) => string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollbook API</title>
<link rel="icon" href="${addressOf('favicon-32x32.png')}">
<link rel="stylesheet" href="${addressOf('swagger-ui.css')}">
<link rel="stylesheet" href="${addressOf('page.css')}">
</head>
<body>
<header><strong>Tollbook</strong> <span>pay by the request</span>
<nav><a href="#operations-tag-Paid">operations</a> <a href="openapi.json">openapi.json</a> <a href="api/catalog">price list</a> <a href="api/health">health</a></nav></header>
<main id="document"><noscript>This page needs JavaScript. The document itself is <a href="openapi.json">openapi.json</a>.</noscript></main>
<script src="${addressOf('swagger-ui-bundle.js')}"></script>
<script src="${addressOf('page.js')}"></script>
</body>
</html>
`
}

const pageCss = `body { margin: 0; background: #fff; }
header { display: flex; gap: .75rem; align-items: baseline; padding: .9rem 1.5rem; background: #16202c; color: #c9d4e0;
  font: 15px/1.4 system-ui, sans-serif; }
header strong { color: #fff; font-size: 1.15rem; }
header nav { margin-left: auto; display: flex; gap: 1.25rem; }
header a { color: #8fd0ff; text-decoration: none; }
header a:hover, header a:focus { text-decoration: underline; }
.swagger-ui .info { margin: 1.5rem 0; }
.swagger-ui .info table { max-width: 75rem; }
.swagger-ui .info table tbody tr td, .swagger-ui .info table thead tr th { padding: .2rem 1rem .2rem 0; }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { color: #16202c; font-weight: 500; }
.swagger-ui .renderedMarkdown pre > code { padding: .6rem .8rem; background: #fff; border: 1px solid #cdd6df; }
.swagger-ui .scheme-container { display: none; }
`

// No validator: the default one is a service on the internet.
const pageJs = `window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#document',
  layout: 'BaseLayout',
  presets: [SwaggerUIBundle.presets.apis],
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: false,
});
`
