import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { listen } from '@tollbook/localnet/httpServer'
import { bundleForBrowsers } from '../../support/browserBundle.ts'

export interface ForeignSite extends AsyncDisposable {
  readonly url: string
}

/** A site at another host and port, whose page has our client bundled into it. */
export async function openForeignSite(facts: object): Promise<ForeignSite> {
  const bundle = await bundleForBrowsers(fileURLToPath(new URL('buyerPage.js', import.meta.url)), { minify: true })
  const page = pageWith(JSON.stringify(facts).replaceAll('<', '\\u003c'))
  const server = createServer((request, response) => {
    const isScript = request.url === '/buyerPage.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isScript ? bundle.code : page)
  })
  const port = await listen(server, { port: 0, host: '127.0.0.1' })
  return {
    url: `http://localhost:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const pageWith = (facts: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>A page of another site</title>
    <link rel="icon" href="data:," />
    <style>
      :root { color-scheme: light dark; font-family: system-ui, sans-serif; }
      body { max-width: 48rem; margin: 0 auto; padding: 1rem; }
      dd { overflow-wrap: anywhere; margin: 0 0 0.6rem; }
      canvas { width: 100%; background: #fff; }
    </style>
  </head>
  <body>
    <main>
      <h1>A page of another site</h1>
      <p><button id="ask">Ask for the price</button> <button id="buy" disabled>Pay</button></p>
      <p id="status" role="status"></p>
      <dl>
        <dt>Price</dt><dd id="price"></dd>
        <dt>Steps</dt><dd id="steps"></dd>
        <dt>Receipt</dt><dd id="receipt"></dd>
        <dt>Ledger</dt><dd id="ledger"></dd>
      </dl>
      <p id="pages"></p>
      <canvas id="document" role="img" aria-label="The document that was bought"></canvas>
    </main>
    <script type="application/json" id="facts">${facts}</script>
    <script src="buyerPage.js"></script>
  </body>
</html>`
