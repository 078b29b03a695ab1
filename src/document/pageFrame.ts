import { html, type Markup } from './markup.ts'

export interface PageFrame {
  readonly title: string
  readonly sellerName: string
  readonly tagline: string
  /** Relative path from the page to `/`. Pages therefore also work below a path prefix. */
  readonly root: string
  /** Name of the page's script. Undefined: the page has no script. */
  readonly script?: string | undefined
  readonly head?: Markup
  readonly body: Markup
}

export function pageFrame({ title, sellerName, tagline, root, script, head = html``, body }: PageFrame): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${root}page/icon.svg" />
        <link rel="stylesheet" href="${root}page/style.css" />
        ${script === undefined ? html`` : html`<script src="${root}page/${script}.js" type="module"></script>`} ${head}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <strong>${sellerName}</strong> <span>${tagline}</span>
          <nav aria-label="Pages">
            <a href="${root === '' ? './' : root}">prices</a> <a href="${root}docs">API</a>
            <a href="${root}burn">burned</a>
          </nav>
        </header>
        ${body}
      </body>
    </html> `.markup
}
