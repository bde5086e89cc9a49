/** Plans by any name: the contract has their list. A new column in place of the old one keeps the table and its triggers. */
export const PLANS_SCHEMA = `
ALTER TABLE projects ADD COLUMN plan_name TEXT NOT NULL DEFAULT 'free';
UPDATE projects SET plan_name = plan;
ALTER TABLE projects DROP COLUMN plan;
ALTER TABLE projects RENAME COLUMN plan_name TO plan;
`;

/** The orders of lists, ready: a dataset has at most 100,000 pets. */
export const PETS_IN_ORDER_SCHEMA = `
CREATE INDEX pets_by_name ON pets (dataset_id, folded_name, id, status, category_id);
CREATE INDEX pets_by_category ON pets (dataset_id, category_id, id, status);
`;
