/*
 * The smallest ELF file that the runtime's loader accepts: SBPF version 3, one executable segment, no sections. The
 * loader's requirements come from the strict parser of solana-sbpf 0.23.
 */

const headerBytes = 64
const segmentHeaderBytes = 56
const sectionHeaderBytes = 64

const sharedObject = 3
const machineBpf = 247
const sbpfVersion = 3
const loadable = 1
const executable = 1
/** Address of the code in the program's own address space, in version 3. */
const codeAddress = 1n << 32n

/** Makes a program of bare code. The padding is there because the loader wants something behind the header table. */
export function sbpfProgram(code: Uint8Array): Uint8Array {
  return Buffer.concat([fileHeader(), codeSegmentHeader(code.length), code, Buffer.alloc(8)])
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(sharedObject, 16)
  header.writeUInt16LE(machineBpf, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(codeAddress, 24)
  header.writeBigUInt64LE(BigInt(headerBytes), 32)
  header.writeUInt32LE(sbpfVersion, 48)
  header.writeUInt16LE(headerBytes, 52)
  header.writeUInt16LE(segmentHeaderBytes, 54)
  header.writeUInt16LE(1, 56)
  header.writeUInt16LE(sectionHeaderBytes, 58)
  header.writeUInt16LE(1, 60)
  return header
}

function codeSegmentHeader(codeBytes: number): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes)
  header.writeUInt32LE(loadable, 0)
  header.writeUInt32LE(executable, 4)
  header.writeBigUInt64LE(BigInt(headerBytes + segmentHeaderBytes), 8)
  header.writeBigUInt64LE(codeAddress, 16)
  header.writeBigUInt64LE(codeAddress, 24)
  header.writeBigUInt64LE(BigInt(codeBytes), 32)
  header.writeBigUInt64LE(BigInt(codeBytes), 40)
  return header
}
