-- Whether the tables that readers see have the logs of an order's exchange: those of SEAPORT_ADDRESSES may be fewer one day.
-- Without its logs nobody knows which of its orders were filled or cancelled.
alter table signed_order
  add column is_followed boolean not null default true;
