import type { AddressInfo } from 'node:net'
import Koa from 'koa'

// The baseline of the 402: Koa with one path, a JSON answer and nothing else, in a separate process.
const app = new Koa()
app.use((context) => {
  if (context.path !== '/api/data/crypto') return
  context.body = { success: true, data: { symbol: 'BTC', price: 1, change24h: '+1%', volume24h: 1, marketCap: 1 } }
})
const server = app.listen(0, '127.0.0.1', () => {
  const { port }: Partial<AddressInfo> = Object(server.address())
  process.stdout.write(`${JSON.stringify({ port })}\n`)
})
process.stdin.on('end', () => process.exit()).resume()
