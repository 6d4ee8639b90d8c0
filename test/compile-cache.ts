// Where the processes that tests start keep what Node compiled of the sources: most of a short command's time is that.
// Never in the home of whoever runs the tests.
import { join } from 'node:path'

export const compileCacheDirectory = join(import.meta.dirname, '..', 'node_modules', '.cache', 'catalog-bot')
