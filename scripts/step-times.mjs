// Prints a final table of the time that each step of a longer run took: elapsed time, and processor time if the
// system reports it. It is plain JavaScript without packages, because it runs before any is installed, on an older
// Node.js than the project's.
import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const ticks = 100

/**
 * Processor seconds of the completed child processes, including their children. Undefined if the system does not
 * report them.
 */
function processorSeconds() {
  try {
    // After the name, which can contain anything, fields 14 and 15: user and system time of the children.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / ticks
  } catch {
    return undefined
  }
}

/**
 * Starts to measure. Call `end(name)` after each step, and `add(name, seconds)` for a step that ran in parallel with others, for
 * which no processor time is measured. `table()` lists all steps.
 * @returns {{ end(name: string): void, add(name: string, seconds: number): void, table(): string }}
 */
export function startStepTimer() {
  const steps = []
  const [began, usedBefore] = [performance.now(), processorSeconds()]
  let since = began
  let before = usedBefore
  let isSequence = true
  return {
    end(name) {
      const [now, used] = [performance.now(), processorSeconds()]
      const processor = used === undefined || before === undefined ? undefined : used - before
      steps.push({ name, clock: (now - since) / 1000, processor })
      since = now
      before = used
    },
    add(name, seconds) {
      steps.push({ name, clock: seconds, processor: undefined })
      isSequence = false
      since = performance.now()
      before = processorSeconds()
    },
    table() {
      if (isSequence) return formatStepTimes(steps)
      const used = processorSeconds()
      const processor = used === undefined || usedBefore === undefined ? undefined : used - usedBefore
      return formatStepTimes(steps, { clock: (performance.now() - began) / 1000, processor })
    },
  }
}

/**
 * @param {readonly { name: string, clock: number, processor: number | undefined }[]} steps
 * @param {{ clock: number, processor: number | undefined }} [all] where that is not their sum
 */
export function formatStepTimes(steps, all) {
  const sum = (values) => values.reduce((total, value) => total + (value ?? 0), 0)
  const rows = steps.length > 1 ? [...steps, { name: 'all', ...(all ?? sums()) }] : steps
  const cell = (seconds) => (seconds === undefined ? '-' : seconds.toFixed(1)).padStart(10)
  return [
    '   seconds of processor',
    ...rows.map(({ name, clock, processor }) => `${cell(clock)} ${cell(processor)}  ${name}`),
  ].join('\n')

  function sums() {
    const isMeasured = steps.some(({ processor }) => processor !== undefined)
    return {
      clock: sum(steps.map(({ clock }) => clock)),
      processor: isMeasured ? sum(steps.map(({ processor }) => processor)) : undefined,
    }
  }
}
