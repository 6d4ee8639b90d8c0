// For tests in which nothing is published: whoever tries is told so.
import type { Publishing } from '../../../src/app/publishing/open-publishing.ts'

export const nobodyPublishes: Publishing = {
  order: () => Promise.reject(new Error('nothing is published here')),
  close: () => Promise.resolve(),
}
