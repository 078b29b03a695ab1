export type Uploads = ReturnType<typeof createUploads>
export type Upload = ReturnType<Uploads['begin']>

export interface UploadLimits {
  readonly bytesMax: number
  readonly bytesPerAddressMax: number
}

interface OpenUpload {
  readonly address: string
  readonly giveUp: () => void
  bytes: number
}

/** Counts received bytes instead of declared lengths, because a client can declare any length at no cost. */
export function createUploads({ bytesMax, bytesPerAddressMax }: UploadLimits) {
  const byAddress = new Map<string, number>()
  // In order of arrival. The oldest upload makes room first, because it has had the most time.
  const arriving = new Set<OpenUpload>()
  let total = 0
  const add = (upload: OpenUpload, bytes: number) => {
    upload.bytes += bytes
    total += bytes
    const ofAddress = (byAddress.get(upload.address) ?? 0) + bytes
    if (ofAddress === 0) byAddress.delete(upload.address)
    else byAddress.set(upload.address, ofAddress)
    return ofAddress
  }
  const end = (upload: OpenUpload) => {
    arriving.delete(upload)
    add(upload, -upload.bytes)
  }
  return {
    heldBytes: () => total,
    /** Begins an upload. `giveUp` is called if it must make room for newer ones. */
    begin(address: string, giveUp: () => void) {
      const upload: OpenUpload = { address, giveUp, bytes: 0 }
      arriving.add(upload)
      return {
        /**
         * Counts received bytes. False if the address has too many bytes, or if all uploads together have too many and
         * no older upload can make room.
         */
        hold(bytes: number): boolean {
          if (add(upload, bytes) > bytesPerAddressMax) return false
          for (const oldest of arriving) {
            if (total <= bytesMax || oldest === upload) break
            end(oldest)
            oldest.giveUp()
          }
          return total <= bytesMax
        },
        /** Notes that the body is complete. `giveUp` is not called after that. */
        arrived: () => void arriving.delete(upload),
        end: () => end(upload),
      }
    },
  }
}
