// For tests in which nothing is tried on a cluster: whoever tries is told so.
import type { Trials } from '../../../src/app/trials/open-trials.ts'

export const nobodyTries: Trials = {
  isAllowed: false,
  order: () => Promise.reject(new Error('nothing is tried here')),
  serving: () => Promise.reject(new Error('nothing is served here')),
  close: () => Promise.resolve(),
}
