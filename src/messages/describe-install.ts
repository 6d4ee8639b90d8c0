// Renders a simulated install as a list of steps and outcomes. Plain text; callers must make untrusted text printable.
import type {
  ChannelInstall,
  InstallReport,
  Installs,
  InstallStep,
  StepOutcome,
} from '../checks/install/install-report.ts'
import { printable } from '../findings/printable.ts'

const marks: Readonly<Record<StepOutcome, string>> = {
  passed: 'ok      ',
  warning: 'warning ',
  failed: 'FAILED  ',
  unknown: 'unknown ',
  'left out': '-       ',
}

const verdicts: Readonly<Record<Installs, string>> = {
  yes: 'installs (simulated)',
  no: 'does not install',
  unknown: 'could not be found out',
}

/** Further remarks of a step are only counted. */
const mostRemarks = 20

export function describeInstall({ package: packageName, installs, channels }: InstallReport): string {
  const all = channels.length > 1 ? [`${packageName}: ${verdicts[installs]}`, ''] : []
  return [...all, ...channels.flatMap((channel) => [...describeChannel(packageName, channel), ''])]
    .map(printable)
    .join('\n')
}

function describeChannel(packageName: string, install: ChannelInstall): readonly string[] {
  const { channel, bundle, installs, steps, comesAlong, acceptance, provisioner } = install
  const what = bundle === undefined ? '' : `: ${bundle}`
  return [
    `${packageName}, channel ${channel}${what}: ${verdicts[installs]}`,
    ...steps.flatMap(describeStep),
    ...(comesAlong.length > 0 ? ['', '  Comes along:'] : []),
    ...comesAlong.flatMap((one) => [
      `    ${one.name} (package ${one.package}, channel ${one.channel})`,
      ...one.because.map((why) => `      ${why}`),
    ]),
    '',
    '  Installs with:',
    ...acceptance.flatMap(({ target, installs: its, because }) => [
      `    ${target.padEnd(16)} ${its === 'other format' ? 'takes bundles of another format' : its}`,
      ...because.slice(0, mostRemarks).map((why) => `      ${why}`),
    ]),
    ...describeProvisioner(provisioner),
  ]
}

function describeStep({ title, outcome, facts, remarks }: InstallStep): readonly string[] {
  const more = remarks.length - mostRemarks
  return [
    `  ${marks[outcome]}${title}`,
    ...facts.map((fact) => `            ${fact}`),
    ...remarks
      .slice(0, mostRemarks)
      .map(({ kind, says, targets }) => `            ${kind} (${targets.join(', ')}): ${says}`),
    ...(more > 0 ? [`            and ${more} more`] : []),
  ]
}

function describeProvisioner(points: ChannelInstall['provisioner']): readonly string[] {
  if (points.length === 0) return []
  const held = points.filter(({ told }) => told === 'holds')
  const left = points.filter(({ told }) => told === 'cluster')
  return [
    '',
    `  Of RukPak's ${points.length} points for provisioners:`,
    ...held.map(({ number, asks, says }) => `    ${number}. ${asks}: ${says}`),
    `    left for a cluster: ${left.map(({ number }) => number).join(', ')}`,
  ]
}
