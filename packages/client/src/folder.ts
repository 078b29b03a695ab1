/** Folders that processes share, for the packages of this repository. May change without notice. */
export { type FolderLock, takeFolderLock } from './folderLock.ts'
export { makeFolder } from './makeFolder.ts'
