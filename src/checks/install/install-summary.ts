// The result of a simulated install, shortened for the check run.
import type { ChannelInstall, InstallStep, InstallVerdict, InstallNote } from './install-report.ts'

export interface InstallSummary {
  readonly package: string
  readonly channel: string
  /** The roots of the catalogs with this result. */
  readonly catalogs: readonly string[]
  readonly bundle?: string
  readonly installs: InstallVerdict
  readonly comesAlong: readonly string[]
  readonly acceptance: ChannelInstall['acceptance']
  readonly steps: readonly InstallStep[]
}

/** Limits for the check run. The command line shows everything. */
const installSummaryLimits = { remarks: 5, facts: 5, because: 3, text: 600 }

export function summarizeInstall(
  packageName: string,
  catalog: string,
  channel: ChannelInstall,
): InstallSummary {
  const { comesAlong, acceptance, steps, bundle, installs } = channel
  return {
    package: packageName,
    channel: channel.channel,
    catalogs: [catalog],
    ...(bundle !== undefined && { bundle }),
    installs,
    comesAlong: comesAlong.map(({ name, package: its }) => truncateSummaryText(`${name} (package ${its})`)),
    acceptance: acceptance.map((row) => ({
      ...row,
      because: truncateSummaryTexts(row.because, installSummaryLimits.because, truncateSummaryText),
    })),
    steps: steps.map((step) => ({
      ...step,
      facts: truncateSummaryTexts(step.facts, installSummaryLimits.facts, truncateSummaryText),
      remarks: selectTopInstallNotes(step.remarks),
    })),
  }
}

/** Merges equal results of several catalogs, in the order of the first. */
export function mergeInstallSummaries(summaries: readonly InstallSummary[]): readonly InstallSummary[] {
  const alike = Map.groupBy(summaries, ({ catalogs: _, ...rest }) => JSON.stringify(rest))
  return [...alike.values()].flatMap((same) => {
    const [first] = same
    return first ? [{ ...first, catalogs: same.flatMap(({ catalogs }) => catalogs) }] : []
  })
}

function selectTopInstallNotes(remarks: readonly InstallNote[]): readonly InstallNote[] {
  const order = { refused: 0, unknown: 1, warning: 2 }
  return remarks
    .toSorted((a, b) => order[a.kind] - order[b.kind])
    .slice(0, installSummaryLimits.remarks)
    .map(({ detail: _, hint: __, ...remark }) => ({ ...remark, says: truncateSummaryText(remark.says) }))
}

function truncateSummaryTexts(
  items: readonly string[],
  count: number,
  cut: (text: string) => string,
): readonly string[] {
  const more = items.length - count
  return [...items.slice(0, count).map(cut), ...(more > 0 ? [`and ${more} more`] : [])]
}

function truncateSummaryText(text: string): string {
  return text.length <= installSummaryLimits.text
    ? text
    : `${text.slice(0, installSummaryLimits.text).toWellFormed()}…`
}
