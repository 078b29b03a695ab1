import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import Koa from 'koa'

// The baseline of the 402: Koa and its router with a JSON answer and nothing else, in a separate process.
const app = new Koa()
const router = new Router()
router.get('/api/data/crypto', (context) => {
  context.body = { success: true, data: { symbol: 'BTC', price: 1, change24h: '+1%', volume24h: 1, marketCap: 1 } }
})
app.use(router.routes())
const server = app.listen(0, '127.0.0.1', () => {
  const { port }: Partial<AddressInfo> = Object(server.address())
  process.stdout.write(`${JSON.stringify({ port })}\n`)
})
process.stdin.on('end', () => process.exit()).resume()
