import { assertRan, type Stack } from './stack.ts'

/** Public: they are not secrets of ours. */
const publicFiles = new Set(['receipt-jwks', 'tls-certificate'])

/** Ports that must be closed, and secrets that `docker inspect` must not show. One line for each problem. */
export async function findExposures(stack: Stack): Promise<readonly string[]> {
  return [...(await findShownSecrets(stack)), ...(await findOpenReports())]
}

async function findShownSecrets(stack: Stack): Promise<readonly string[]> {
  const ids = assertRan(await stack.docker('ps', '--all', '--quiet'))
    .trim()
    .split('\n')
  const shown = assertRan(await stack.docker('inspect', ...ids))
  const secrets = [...(await stack.secrets())].filter(([name]) => !publicFiles.has(name))
  return secrets.filter(([, text]) => shown.includes(text.trim())).map(([name]) => `docker inspect shows ${name}`)
}

/** The reports have their own port on loopback, ask for a token there, and are not behind the load balancer. */
async function findOpenReports(): Promise<readonly string[]> {
  const expected = [
    ['http://127.0.0.1:3403/api/finance/summary', 401],
    ['http://127.0.0.1:3402/api/finance/summary', 404],
    ['http://127.0.0.1:3402/finance', 404],
    ['http://127.0.0.1:3402/metrics', 404],
  ] as const
  const answers = await Promise.all(expected.map(([url]) => fetch(url).then(({ status }) => status)))
  return expected.flatMap(([url, status], index) =>
    answers[index] === status ? [] : [`${url} is answered with ${answers[index]} and not ${status}`],
  )
}
