import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Program that holds the other end of a connection on this machine, from the tables of Linux; root sees all of them. */
export function openerOf(remotePort: number): 'browser' | 'proxy' | 'unknown' {
  const inode = inodeOf(remotePort)
  const pid = inode === undefined ? undefined : holderOf(inode)
  if (pid === undefined) return 'unknown'
  return /chrom/.test(read(`/proc/${pid}/cmdline`)) ? 'browser' : 'proxy'
}

function inodeOf(port: number): string | undefined {
  const local = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = [...read('/proc/net/tcp').split('\n'), ...read('/proc/net/tcp6').split('\n')]
  const fields = lines.map((line) => line.trim().split(/\s+/))
  return fields.find((field) => field[1]?.endsWith(`:${local}`))?.[9]
}

function holderOf(inode: string): string | undefined {
  return readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && linksOf(pid).includes(`socket:[${inode}]`))
}

function linksOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
  } catch {
    return []
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
