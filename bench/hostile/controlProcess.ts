import { createServer } from 'node:http'

/*
 * Answers 200 to everything and does nothing else: `node controlProcess.ts PORT`. Its delays are those of the machine,
 * which attackers, payers, chain, database and service share. The end of stdin ends it.
 */
createServer((_request, response) => {
  response.setHeader('connection', 'close').end('{"status":"alive"}')
}).listen(Number(process.argv[2]), '127.0.0.1')
process.stdin.resume().once('end', () => process.exit())
