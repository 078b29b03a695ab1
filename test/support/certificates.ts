import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { writeFile } from 'node:fs/promises'

/*
 * Certificates for tests of TLS, written in DER by hand: Node reads certificates and makes none, and a machine that
 * runs the tests need not have OpenSSL's command.
 */

export interface TestCertificate {
  readonly certificate: string
  readonly key: string
}

export interface CertificateOptions {
  readonly name: string
  /** Issuer; by default the certificate signs itself and is an authority. */
  readonly by?: { readonly name: string; readonly issued: TestCertificate }
  /** Host names and IPv4 addresses of a server. */
  readonly hosts?: readonly string[]
  readonly validFrom?: Date
  readonly validTo?: Date
}

const dayMs = 24 * 60 * 60 * 1000

/** An Ed25519 certificate with its key, in PEM. */
export function issueCertificate(options: CertificateOptions): TestCertificate {
  const {
    name,
    by,
    hosts = [],
    validFrom = new Date(Date.now() - dayMs),
    validTo = new Date(Date.now() + 90 * dayMs),
  } = options
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const extensions = [basicConstraints(by === undefined), ...(hosts.length === 0 ? [] : [alternativeNames(hosts)])]
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ed25519,
    nameOf(by?.name ?? name),
    sequence(time(validFrom), time(validTo)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  )
  const issuerKey: KeyObject = by === undefined ? privateKey : createPrivateKey(by.issued.key)
  const der = sequence(body, ed25519, bitString(sign(undefined, body, issuerKey)))
  return { certificate: pem('CERTIFICATE', der), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

export interface WrittenFiles {
  readonly SIGNER_TLS_CERT: string
  readonly SIGNER_TLS_KEY: string
  readonly SIGNER_TLS_CA: string
}

/** Writes one side's files into the folder, and names them as the settings do. */
export async function writeTlsFiles(
  folder: string,
  side: string,
  { own, authority }: { readonly own: TestCertificate; readonly authority: string },
): Promise<WrittenFiles> {
  const files = {
    SIGNER_TLS_CERT: `${folder}/${side}.crt`,
    SIGNER_TLS_KEY: `${folder}/${side}.key`,
    SIGNER_TLS_CA: `${folder}/${side}-ca.crt`,
  }
  await writeFile(files.SIGNER_TLS_CERT, own.certificate)
  await writeFile(files.SIGNER_TLS_KEY, own.key)
  await writeFile(files.SIGNER_TLS_CA, authority)
  return files
}

function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts)
const integer = (bytes: Uint8Array): Buffer => tagged(0x02, bytes)
const bitString = (bytes: Uint8Array): Buffer => tagged(0x03, Buffer.from([0]), bytes)
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'))
const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes)

const ed25519 = sequence(oid('2b6570'))

function nameOf(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(commonName)))))
}

function time(date: Date): Buffer {
  return tagged(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`))
}

function basicConstraints(isAuthority: boolean): Buffer {
  const value = isAuthority ? sequence(tagged(0x01, Buffer.from([0xff]))) : sequence()
  return sequence(oid('551d13'), tagged(0x01, Buffer.from([0xff])), octets(value))
}

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host) ? tagged(0x87, Buffer.from(host.split('.').map(Number))) : tagged(0x82, Buffer.from(host)),
  )
  return sequence(oid('551d11'), octets(sequence(...names)))
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
