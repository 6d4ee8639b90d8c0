const messageBySystemErrorCode: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this address does not exist on this machine',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EEXIST: 'the file already exists',
  EISDIR: 'expected a file, but it is a directory',
  ELOOP: 'its symbolic links form a loop',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of the path is not a directory',
  ENOTEMPTY: 'the directory is not empty',
  ENOTFOUND: 'host not found',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ETIMEDOUT: 'the connection timed out',
}

/** Returns undefined for other errors. */
export function formatSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const meaning = messageBySystemErrorCode[error.code]
  // Errors of catalog-bot can have codes too.
  if (meaning === undefined || !('syscall' in error) || typeof error.syscall !== 'string') return undefined
  if (error.syscall.startsWith('spawn') && error.code === 'ENOENT')
    return `${error.syscall.slice('spawn '.length) || 'a program'} is required but not installed`
  const { path, address, hostname, port } = error as Error & {
    readonly path?: string
    readonly address?: string
    readonly hostname?: string
    readonly port?: number
  }
  const host = hostname ?? address
  const subject = path ?? (host === undefined || port === undefined ? host : `${host}:${port}`)
  return subject === undefined ? meaning : `${subject}: ${meaning}`
}
