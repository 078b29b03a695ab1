import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describeError, Fault } from '@tollbook/core/fault'

/** Paths of PEM files, each under the name of its variable, so that an error can name the variable. */
export interface TlsFiles {
  /** Intermediate certificates up to the authority follow the certificate of this side. */
  readonly SIGNER_TLS_CERT: string
  readonly SIGNER_TLS_KEY: string
  /** Only these authorities may have issued the other side's certificate. */
  readonly SIGNER_TLS_CA: string
}

/** `cert`, `key` and `ca` have the form that Node's tls module reads. */
export interface TlsIdentity {
  readonly cert: string
  readonly key: string
  readonly ca: string
  readonly expiresAtMs: number
}

interface PemFile {
  readonly setting: keyof TlsFiles
  readonly path: string
  readonly text: string
}

/**
 * Throws a `Fault` with the variable and the problem of its file. The fault is retryable if a certificate is outside
 * its period of validity.
 */
export async function readTlsIdentity(files: TlsFiles, nowMs: number): Promise<TlsIdentity> {
  const [cert, key, ca] = await Promise.all([
    readPem(files, 'SIGNER_TLS_CERT'),
    readPem(files, 'SIGNER_TLS_KEY'),
    readPem(files, 'SIGNER_TLS_CA'),
  ])
  const chain = parseCertificates(cert)
  const authorities = parseCertificates(ca)
  const [own] = chain
  if (!own.checkPrivateKey(parseKey(key)))
    throw wrong(key, `is not the key of the certificate in SIGNER_TLS_CERT (${cert.path})`)
  checkPeriods(cert, chain, nowMs)
  checkPeriods(ca, authorities, nowMs)
  if (!isIssued(chain, authorities)) throw wrong(cert, `was not issued by an authority in SIGNER_TLS_CA (${ca.path})`)
  const expiresAtMs = Math.min(...[...chain, ...authorities].map(({ validTo }) => Date.parse(validTo)))
  return { cert: cert.text, key: key.text, ca: ca.text, expiresAtMs }
}

async function readPem(files: TlsFiles, setting: keyof TlsFiles): Promise<PemFile> {
  const path = files[setting]
  try {
    return { setting, path, text: await readFile(path, 'utf8') }
  } catch (error) {
    throw wrong({ setting, path }, `cannot be read (${describeError(error)})`)
  }
}

function wrong({ setting, path }: Pick<PemFile, 'setting' | 'path'>, what: string, cause?: unknown): Fault {
  return new Fault(`${setting}: ${path} ${what}`, { cause, retryable: false })
}

function outOfPeriod({ setting, path }: PemFile, what: string): Fault {
  return new Fault(`${setting}: ${path} ${what}`, { retryable: true })
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

type Certificates = readonly [X509Certificate, ...X509Certificate[]]

function parseCertificates(file: PemFile): Certificates {
  try {
    const [first, ...others] = [...file.text.matchAll(pemCertificate)].map(([text]) => new X509Certificate(text))
    if (first !== undefined) return [first, ...others]
  } catch (error) {
    throw wrong(file, 'holds a certificate that cannot be read', error)
  }
  throw wrong(file, 'holds no certificate in PEM form')
}

function parseKey(file: PemFile): KeyObject {
  try {
    return createPrivateKey(file.text)
  } catch {
    // Omit the cause, because an error about a key may quote the key.
    throw wrong(file, 'holds no private key in PEM form without a passphrase')
  }
}

function checkPeriods(file: PemFile, certificates: Certificates, nowMs: number): void {
  for (const { validFrom, validTo } of certificates) {
    if (nowMs > Date.parse(validTo)) throw outOfPeriod(file, `expired on ${isoOf(validTo)}; renew it`)
    if (nowMs < Date.parse(validFrom))
      throw outOfPeriod(file, `is not valid before ${isoOf(validFrom)}; check the clock of this machine`)
  }
}

const isoOf = (time: string): string => new Date(time).toISOString()

/** Node's tls verifies only the chain of the other side. This check finds a mix-up of the files of this side. */
function isIssued(chain: Certificates, authorities: Certificates): boolean {
  return chain.some((certificate) =>
    authorities.some((authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey)),
  )
}
