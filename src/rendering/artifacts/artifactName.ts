import { randomToken } from '@tollbook/core/id'

/** Stored media types; nothing else is ever served under our name. */
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
 * 128 random bits, because the name is all that is needed to read it; and when it ends, so that no second file has to be
 * kept with what is already in the name. A name with another end is the name of nothing.
 */
export function newArtifactName(contentType: ArtifactType, expiresAtMs: number): string {
  return `${randomToken()}-${Math.ceil(expiresAtMs / 1000).toString(36)}.${endings[contentType]}`
}

/** Facts that a name carries: no lookup is needed to serve or expire a file. */
export interface ReadName {
  readonly contentType: ArtifactType
  readonly expiresAtMs: number
}

/** Undefined when we never made such a name; so nothing in it can be a path. */
export function readArtifactName(name: string): ReadName | undefined {
  const match = pattern.exec(name)
  if (match === null) return undefined
  const [, expiry = '', ending] = match
  const found = Object.entries(types).find(([name]) => name === ending)
  return found && { contentType: found[1], expiresAtMs: Number.parseInt(expiry, 36) * 1000 }
}
