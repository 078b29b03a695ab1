import { randomToken } from '@tollbook/core/id'

export type ArtifactType = keyof typeof endings

const endings = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
} as const
const types = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  pdf: 'application/pdf',
} as const satisfies Record<(typeof endings)[ArtifactType], ArtifactType>
const pattern = /^[A-Za-z0-9_-]{22}-([0-9a-z]{6,8})\.(png|jpeg|webp|pdf)$/

/**
 * 128 random bits, because the name alone gives access to the file. The name contains the expiry, so that no second
 * record is needed.
 */
export function newArtifactName(contentType: ArtifactType, expiresAtMs: number): string {
  return `${randomToken()}-${Math.ceil(expiresAtMs / 1000).toString(36)}.${endings[contentType]}`
}

/** Undefined unless the text has the exact form of a generated name, so a parsed name never contains a path. */
export function readArtifactName(name: string) {
  const match = pattern.exec(name)
  if (match === null) return undefined
  const [, expiry = '', ending] = match
  const found = Object.entries(types).find(([name]) => name === ending)
  return found && { contentType: found[1], expiresAtMs: Number.parseInt(expiry, 36) * 1000 }
}
