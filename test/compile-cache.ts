// Where processes started by tests cache the code that Node compiled, which takes most of the time of a short command.
// It is never in the home folder of the user.
import { join } from 'node:path'

export const compileCacheDirectory = join(import.meta.dirname, '..', 'node_modules', '.cache', 'catalog-bot')
/** For processes that run the sources. */
export const compileCacheEnvironment = { NODE_COMPILE_CACHE: join(compileCacheDirectory, 'compiled') }
