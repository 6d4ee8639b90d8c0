// What the operator can measure, in Prometheus' form.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

export function openMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    deliveries: new Histogram({
      name: 'catalog_bot_delivery_seconds',
      help: 'From the first byte of a delivery to its answer',
      labelNames: ['event', 'outcome'],
      buckets: durations,
      registers,
    }),
    jobs: new Histogram({
      name: 'catalog_bot_job_seconds',
      help: 'Time to do one duty',
      labelNames: ['kind', 'outcome'],
      buckets: durations,
      registers,
    }),
    landings: new Counter({
      name: 'catalog_bot_landings_total',
      help: 'Landings by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    lastSweep: new Gauge({
      name: 'catalog_bot_last_sweep_timestamp_seconds',
      help: 'When all repositories were last listed',
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof openMetrics>
