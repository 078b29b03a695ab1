import { X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:tls'
import { once } from 'node:events'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { createMetrics } from '../../src/transport/metrics.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openSigner } from '../../src/signer/openSigner.ts'
import { createSignerClient } from '../../src/signer/signerClient.ts'
import { readTlsIdentity } from '../../src/signer/tlsIdentity.ts'
import { openSignerPart } from '../../src/start/payments/openSignerPart.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { issueCertificate, writeTlsFiles } from '../support/certificates.ts'
import { addressOf, signerKey } from '../support/feePayerKey.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openMemoryJournal } from './memoryJournal.ts'
import { sponsoredWallets } from './sponsoredPayment.ts'

const wallets = sponsoredWallets()
const authority = issueCertificate({ name: 'signer authority' })
const by = { name: 'signer authority', issued: authority }
const serverSide = {
  own: issueCertificate({ name: 'signer', by, hosts: ['127.0.0.1'] }),
  authority: authority.certificate,
}
const clientSide = { own: issueCertificate({ name: 'api', by }), authority: authority.certificate }

let folder: string
beforeAll(async () => {
  folder = await makeScratchDirectory()
})

async function openTlsSigner(port = 0) {
  const tls = await writeTlsFiles(folder, 'signer', serverSide)
  const signer = await openSigner({
    clock: systemClock,
    log: silentLog,
    address: { host: '127.0.0.1', port, tls },
    journal: openMemoryJournal().journal,
    key: signerKey(wallets.feePayer),
    terms: wallets.terms,
    limits: { perDayLamports: 10n ** 9n, perWalletAndDayLamports: 10n ** 9n, perPaymentLamports: 20_000n },
  })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= signer.close())
  afterFile(close)
  return { signer, port: assertPresent(signer.port, 'it listens on a port'), close }
}

const clientAt = (port: number, tls: Awaited<ReturnType<typeof writeTlsFiles>>, host = '127.0.0.1') =>
  createSignerClient({ address: { host, port, tls }, clock: systemClock })

test('a body that is longer than any transaction is refused, and nothing of it is signed', async () => {
  const socketPath = `${folder}/signer.sock`
  const signer = await openSigner({
    clock: systemClock,
    log: silentLog,
    address: { socketPath },
    journal: openMemoryJournal().journal,
    key: signerKey(wallets.feePayer),
    terms: wallets.terms,
    limits: { perDayLamports: 1n, perWalletAndDayLamports: 1n, perPaymentLamports: 1n },
  })
  afterFile(() => signer.close())
  const statusOf = async (bytes: number) => {
    const path = '/signatures?held=1&asOf=2026-11-26T00:00:00.000000Z'
    const sending = request({ socketPath, path, method: 'POST', agent: false })
    sending.end(Buffer.alloc(bytes))
    const [response] = await once(sending, 'response')
    response.resume()
    return Number(response.statusCode)
  }
  expect([await statusOf(2_048), await statusOf(2_049)]).toEqual([200, 413])
})

describe('a signer on a port', () => {
  test('answers a service with a certificate of the authority, also after a restart', async () => {
    const { signer, port, close } = await openTlsSigner()
    const client = clientAt(port, await writeTlsFiles(folder, 'api', clientSide))
    expect(await client.standing()).toEqual({ address: signer.address, whyClosed: undefined })
    const question = { digest: '0'.repeat(64), payer: signer.address }
    expect((await client.find(question)).signature).toBeUndefined()
    await close()
    await openTlsSigner(port)
    expect((await client.find(question)).signature).toBeUndefined()
  })

  test('refuses a service without a certificate, and one of another authority', async () => {
    const { port } = await openTlsSigner()
    const unknown = issueCertificate({ name: 'unknown authority' })
    const own = issueCertificate({ name: 'api', by: { name: 'unknown authority', issued: unknown } })
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate })
    const [refusal] = await once(socket, 'error')
    expect(String(refusal)).toMatch(/certificate required/i)
    const crossed = await writeTlsFiles(folder, 'crossed', {
      own,
      authority: authority.certificate + unknown.certificate,
    })
    await expect(clientAt(port, crossed).standing()).rejects.toThrow('does not answer')
  })

  test('is refused by a service when another authority has issued its certificate, or for another host', async () => {
    const { port } = await openTlsSigner()
    const unknown = issueCertificate({ name: 'signer authority' })
    const own = issueCertificate({ name: 'api', by: { name: 'signer authority', issued: unknown } })
    const files = await writeTlsFiles(folder, 'deceived', { own, authority: unknown.certificate })
    await expect(clientAt(port, files).standing()).rejects.toThrow('does not answer')
    const right = await writeTlsFiles(folder, 'api', clientSide)
    await expect(clientAt(port, right, 'localhost').standing()).rejects.toThrow('does not answer')
  })

  test('speaks TLS 1.3 only', async () => {
    const { port } = await openTlsSigner()
    const { own } = clientSide
    const options = { host: '127.0.0.1', port, ca: authority.certificate, cert: own.certificate, key: own.key }
    const old = connect({ ...options, maxVersion: 'TLSv1.2' })
    const [refusal] = await once(old, 'error')
    expect(String(refusal)).toMatch(/protocol version/i)
    const current = connect(options)
    await once(current, 'secureConnect')
    expect(current.getProtocol()).toBe('TLSv1.3')
    current.destroy()
  })
})

test('a signer and a service that run use a certificate that was renewed, and a broken file takes none away', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const { port } = await openTlsSigner()
    const files = { ...(await writeTlsFiles(folder, 'longLived', clientSide)) }
    let nowMs = 0
    const clock = { nowMs: systemClock.nowMs, monotonicMs: () => nowMs }
    const client = createSignerClient({ address: { host: '127.0.0.1', port, tls: files }, clock })
    const question = { digest: '0'.repeat(64), payer: addressOf(wallets.feePayer.publicKey.toBase58()) }
    const isAnswered = async () => {
      nowMs += 61_000
      return (await client.find(question)).asOf !== ''
    }
    expect(await isAnswered()).toBe(true)
    await writeFile(files.SIGNER_TLS_KEY, 'half a fi')
    expect(await isAnswered(), 'with the certificate of before').toBe(true)
    const renewed = issueCertificate({ name: 'signer', by, hosts: ['127.0.0.1'] })
    await writeTlsFiles(folder, 'signer', { ...serverSide, own: renewed })
    await vi.advanceTimersByTimeAsync(60_000)
    await awaitThat('the signer shows its new certificate', async () => {
      const { own } = clientSide
      const shown = connect({ host: '127.0.0.1', port, ca: authority.certificate, cert: own.certificate, key: own.key })
      await once(shown, 'secureConnect')
      const { raw } = shown.getPeerCertificate()
      shown.destroy()
      return raw.equals(new X509Certificate(renewed.certificate).raw)
    })
  } finally {
    vi.useRealTimers()
  }
})

describe('a service', () => {
  const deps = { clock: systemClock, log: silentLog, metrics: createMetrics() }
  const placeOf = async (own: typeof clientSide.own) => {
    const tls = await writeTlsFiles(folder, 'service', { ...clientSide, own })
    return { signer: { host: '127.0.0.1', port: 1, tls }, network: undefined }
  }

  test('does not start with files of TLS that can never work', async () => {
    const { own } = serverSide
    const wrong = await placeOf({ certificate: clientSide.own.certificate, key: own.key })
    await expect(openSignerPart(wrong, deps)).rejects.toThrow('SIGNER_TLS_KEY')
  })

  test('starts with a certificate that has expired, and says so in its log', async () => {
    const expired = issueCertificate({ name: 'api', by, validFrom: new Date(0), validTo: new Date(1) })
    const lines: object[] = []
    const log = { ...silentLog, warn: (line: object) => void lines.push(line) }
    const part = await openSignerPart(await placeOf(expired), { ...deps, log })
    expect(part.checks[0]?.problem()).toBe('the signer of the network fees does not answer')
    expect(lines).toEqual([expect.objectContaining({ error: expect.stringMatching('SIGNER_TLS_CERT: .* expired') })])
    await part.close()
  })
})

test('the files of one side are valid until the first of their certificates ends, an authority included', async () => {
  const validTo = new Date('2099-01-01T00:00:00Z')
  const [short, long] = [new Date('2098-01-01T00:00:00Z'), new Date('2100-01-01T00:00:00Z')]
  const ends = async (ownEnds: Date, authorityEnds: Date) => {
    const issued = issueCertificate({ name: 'brief authority', validTo: authorityEnds })
    const own = issueCertificate({ name: 'api', by: { name: 'brief authority', issued }, validTo: ownEnds })
    const files = await writeTlsFiles(folder, 'brief', { own, authority: issued.certificate })
    return (await readTlsIdentity(files, Date.now())).expiresAtMs
  }
  expect(await ends(validTo, long)).toBe(validTo.getTime())
  expect(await ends(validTo, short)).toBe(short.getTime())
})

describe('a file of TLS', () => {
  const past = new Date('2026-01-02T03:04:05Z')
  const future = new Date('2099-01-01T00:00:00Z')
  const other = issueCertificate({ name: 'api', by })
  const cases: readonly (readonly [string, Parameters<typeof writeTlsFiles>[2], string])[] = [
    [
      'with another key',
      { ...clientSide, own: { ...clientSide.own, key: other.key } },
      'SIGNER_TLS_KEY: .* is not the key',
    ],
    [
      'without a key',
      { ...clientSide, own: { ...clientSide.own, key: 'nothing' } },
      'SIGNER_TLS_KEY: .* no private key',
    ],
    [
      'without a certificate',
      { ...clientSide, own: { ...clientSide.own, certificate: '' } },
      'SIGNER_TLS_CERT: .* no certificate',
    ],
    ['without an authority', { ...clientSide, authority: 'nothing' }, 'SIGNER_TLS_CA: .* no certificate'],
    [
      'of another authority',
      { ...clientSide, authority: issueCertificate({ name: 'x' }).certificate },
      'SIGNER_TLS_CERT: .* SIGNER_TLS_CA',
    ],
    [
      'that has expired',
      { ...clientSide, own: issueCertificate({ name: 'api', by, validFrom: new Date(0), validTo: past }) },
      'SIGNER_TLS_CERT: .* expired on 2026-01-02T03:04:05',
    ],
    [
      'that is not valid yet',
      { ...clientSide, own: issueCertificate({ name: 'api', by, validFrom: future, validTo: future }) },
      'SIGNER_TLS_CERT: .* not valid before 2099',
    ],
    [
      'of an authority that has expired',
      {
        ...clientSide,
        authority:
          authority.certificate + issueCertificate({ name: 'y', validFrom: new Date(0), validTo: past }).certificate,
      },
      'SIGNER_TLS_CA: .* expired',
    ],
  ]

  test.each(cases)('%s is named with its setting', async (_name, side, message) => {
    const files = await writeTlsFiles(folder, 'case', side)
    await expect(readTlsIdentity(files, Date.now())).rejects.toThrow(new RegExp(message))
  })

  test('that is missing is named with its setting, and one that was renewed is used', async () => {
    const files = await writeTlsFiles(folder, 'renewed', clientSide)
    await expect(readTlsIdentity({ ...files, SIGNER_TLS_CA: `${folder}/none` }, Date.now())).rejects.toThrow(
      /SIGNER_TLS_CA: .*none cannot be read \(.*ENOENT/,
    )
    await writeFile(files.SIGNER_TLS_CERT, other.certificate)
    await writeFile(files.SIGNER_TLS_KEY, other.key)
    expect((await readTlsIdentity(files, Date.now())).cert).toBe(other.certificate)
  })
})
